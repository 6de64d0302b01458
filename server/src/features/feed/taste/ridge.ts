/**
 * Ridge regression with few features: accumulates observations and solves the normal equations (λI
 * + Σ w·x·xᵀ)·b = Σ w·y·x by Cholesky decomposition. It finds a viewer's taste from item vectors.
 */
export class Ridge {
  readonly #size: number;
  /** The lower triangle of Σ w·x·xᵀ, row by row. */
  readonly #products: Float64Array;
  readonly #targets: Float64Array;
  readonly #factor: Float64Array;

  constructor(size: number) {
    this.#size = size;
    this.#products = new Float64Array((size * (size + 1)) / 2);
    this.#targets = new Float64Array(size);
    this.#factor = new Float64Array((size * (size + 1)) / 2);
  }

  /** Copies the sums of another instance of the same size. */
  copy(other: Ridge): void {
    this.#products.set(other.#products);
    this.#targets.set(other.#targets);
  }

  /**
   * Adds an observation: the features at `offset` of `features`, the observed value, and its
   * weight.
   */
  add(features: Float32Array, offset: number, observed: number, weight: number): void {
    const size = this.#size;
    const products = this.#products;
    const targets = this.#targets;
    let at = 0;
    for (let row = 0; row < size; row += 1) {
      const feature = weight * (features[offset + row] ?? 0);
      targets[row] = (targets[row] ?? 0) + feature * observed;
      for (let column = 0; column <= row; column += 1) {
        products[at] = (products[at] ?? 0) + feature * (features[offset + column] ?? 0);
        at += 1;
      }
    }
  }

  /** Writes the coefficients to `into` at `offset`. @param penalty λ, above 0 */
  solve(penalty: number, into: Float32Array, offset: number): void {
    this.#decompose(penalty);
    const size = this.#size;
    const factor = this.#factor;
    const values = new Float64Array(size);
    for (let row = 0; row < size; row += 1) {
      const start = (row * (row + 1)) / 2;
      let sum = this.#targets[row] ?? 0;
      for (let k = 0; k < row; k += 1) sum -= (factor[start + k] ?? 0) * (values[k] ?? 0);
      values[row] = sum / (factor[start + row] ?? 1);
    }
    for (let row = size - 1; row >= 0; row -= 1) {
      let sum = values[row] ?? 0;
      for (let k = row + 1; k < size; k += 1) {
        sum -= (factor[(k * (k + 1)) / 2 + row] ?? 0) * (values[k] ?? 0);
      }
      values[row] = sum / (factor[(row * (row + 1)) / 2 + row] ?? 1);
    }
    for (let row = 0; row < size; row += 1) into[offset + row] = values[row] ?? 0;
  }

  /** Cholesky: L·Lᵀ = λI + Σ w·x·xᵀ. λ above 0 keeps the diagonal positive. */
  #decompose(penalty: number): void {
    const size = this.#size;
    const factor = this.#factor;
    for (let row = 0; row < size; row += 1) {
      const start = (row * (row + 1)) / 2;
      for (let column = 0; column <= row; column += 1) {
        const other = (column * (column + 1)) / 2;
        let sum = (this.#products[start + column] ?? 0) + (row === column ? penalty : 0);
        for (let k = 0; k < column; k += 1) {
          sum -= (factor[start + k] ?? 0) * (factor[other + k] ?? 0);
        }
        factor[start + column] =
          row === column ? Math.sqrt(Math.max(sum, penalty)) : sum / (factor[other + column] ?? 1);
      }
    }
  }
}
