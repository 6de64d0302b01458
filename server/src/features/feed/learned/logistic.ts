/**
 * Logistic regression of weighted outcomes from 0 to 1 on a few features. Outcomes may be shares;
 * the estimate is then that of fractional logit (Papke and Wooldridge 1996). Fitted by Newton's
 * method with a ridge penalty, which keeps coefficients finite for all outcomes.
 */

export type TrainingSample = {
  readonly features: Float64Array;
  /** From 0 to 1. */
  readonly outcome: number;
  readonly weight: number;
};

export type Logistic = {
  readonly intercept: number;
  readonly coefficients: readonly number[];
};

const rounds = 25;
const closeEnough = 1e-7;

export function sigmoid(logit: number): number {
  return 1 / (1 + Math.exp(-logit));
}

/** @param penalty of each coefficient, in samples; practically none for the intercept */
export function fitLogistic(
  samples: readonly TrainingSample[],
  size: number,
  penalty: number,
): Logistic {
  const width = size + 1;
  const beta = new Float64Array(width);
  for (let round = 0; round < rounds; round += 1) {
    const gradient = new Float64Array(width);
    const hessian = new Float64Array(width * width);
    for (const { features, outcome, weight } of samples) {
      let logit = beta[size] ?? 0;
      for (let at = 0; at < size; at += 1) logit += (beta[at] ?? 0) * (features[at] ?? 0);
      const expected = sigmoid(logit);
      const error = weight * (outcome - expected);
      const curvature = weight * expected * (1 - expected);
      for (let row = 0; row < width; row += 1) {
        const x = row === size ? 1 : (features[row] ?? 0);
        gradient[row] = (gradient[row] ?? 0) + error * x;
        for (let column = 0; column <= row; column += 1) {
          const y = column === size ? 1 : (features[column] ?? 0);
          const at = row * width + column;
          hessian[at] = (hessian[at] ?? 0) + curvature * x * y;
        }
      }
    }
    for (let at = 0; at < width; at += 1) {
      const own = at === size ? 1e-6 : penalty;
      gradient[at] = (gradient[at] ?? 0) - own * (beta[at] ?? 0);
      hessian[at * width + at] = (hessian[at * width + at] ?? 0) + own;
    }
    const step = solve(hessian, gradient, width);
    let largest = 0;
    for (let at = 0; at < width; at += 1) {
      // Limit the step, because Newton's method may overshoot far from the solution.
      const bounded = Math.max(-2, Math.min(2, step[at] ?? 0));
      beta[at] = (beta[at] ?? 0) + bounded;
      largest = Math.max(largest, Math.abs(bounded));
    }
    if (largest < closeEnough) break;
  }
  return { intercept: beta[size] ?? 0, coefficients: Array.from(beta.subarray(0, size)) };
}

/**
 * Solves A·x = b for a symmetric positive definite A, given by its lower triangle, by Cholesky
 * decomposition.
 */
function solve(a: Float64Array, b: Float64Array, width: number): Float64Array {
  const x = b.slice();
  for (let row = 0; row < width; row += 1) {
    for (let column = 0; column <= row; column += 1) {
      let sum = a[row * width + column] ?? 0;
      for (let k = 0; k < column; k += 1) {
        sum -= (a[row * width + k] ?? 0) * (a[column * width + k] ?? 0);
      }
      a[row * width + column] =
        row === column ? Math.sqrt(Math.max(sum, 1e-12)) : sum / (a[column * width + column] ?? 1);
    }
    for (let k = 0; k < row; k += 1) {
      x[row] = (x[row] ?? 0) - (a[row * width + k] ?? 0) * (x[k] ?? 0);
    }
    x[row] = (x[row] ?? 0) / (a[row * width + row] ?? 1);
  }
  for (let row = width - 1; row >= 0; row -= 1) {
    for (let k = row + 1; k < width; k += 1) {
      x[row] = (x[row] ?? 0) - (a[k * width + row] ?? 0) * (x[k] ?? 0);
    }
    x[row] = (x[row] ?? 0) / (a[row * width + row] ?? 1);
  }
  return x;
}
