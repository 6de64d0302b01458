/** Operations on matrices with few columns, stored row by row in one array. */

/**
 * Makes the columns orthonormal by the modified Gram–Schmidt method.
 *
 * @returns the lengths of the columns before normalization
 */
export function orthonormalize(matrix: Float32Array, columns: number): number[] {
  const lengths: number[] = [];
  for (let column = 0; column < columns; column += 1) {
    for (let other = 0; other < column; other += 1) {
      let product = 0;
      for (let row = 0; row < matrix.length; row += columns) {
        product += (matrix[row + column] ?? 0) * (matrix[row + other] ?? 0);
      }
      for (let row = 0; row < matrix.length; row += columns) {
        matrix[row + column] = (matrix[row + column] ?? 0) - product * (matrix[row + other] ?? 0);
      }
    }
    let squares = 0;
    for (let row = column; row < matrix.length; row += columns) squares += (matrix[row] ?? 0) ** 2;
    const length = Math.sqrt(squares);
    lengths.push(length);
    // What remains of a linearly dependent column is rounding error.
    const scale = length > 1e-12 ? 1 / length : 0;
    for (let row = column; row < matrix.length; row += columns) {
      matrix[row] = (matrix[row] ?? 0) * scale;
    }
  }
  return lengths;
}

/**
 * Scales each column so that its mean square over `rows` (with repeats) is the square of its share.
 */
export function normalizeColumns(
  matrix: Float32Array,
  columns: number,
  shares: readonly number[],
  rows: Uint32Array,
): void {
  const squares = new Float64Array(columns);
  for (const row of rows) {
    for (let column = 0; column < columns; column += 1) {
      squares[column] = (squares[column] ?? 0) + (matrix[row * columns + column] ?? 0) ** 2;
    }
  }
  for (let at = 0; at < matrix.length; at += 1) {
    const column = at % columns;
    const length = Math.sqrt((squares[column] ?? 0) / rows.length);
    matrix[at] = length > 0 ? ((matrix[at] ?? 0) / length) * (shares[column] ?? 0) : 0;
  }
}
