const WINDOW = 8;
const C1 = (0.01 * 255) ** 2;
const C2 = (0.03 * 255) ** 2;

/** Structural similarity (SSIM; Wang et al., 2004) of two luma planes over 8×8 windows. */
export function similarity(a: Buffer, b: Buffer, width: number, height: number): number {
  let sum = 0;
  let windows = 0;
  for (let top = 0; top + WINDOW <= height; top += WINDOW) {
    for (let left = 0; left + WINDOW <= width; left += WINDOW) {
      let [sumA, sumB, squareA, squareB, product] = [0, 0, 0, 0, 0];
      for (let row = top; row < top + WINDOW; row += 1) {
        for (let at = row * width + left; at < row * width + left + WINDOW; at += 1) {
          const x = a[at] ?? 0;
          const y = b[at] ?? 0;
          sumA += x;
          sumB += y;
          squareA += x * x;
          squareB += y * y;
          product += x * y;
        }
      }
      const count = WINDOW * WINDOW;
      const [meanA, meanB] = [sumA / count, sumB / count];
      const varianceA = squareA / count - meanA * meanA;
      const varianceB = squareB / count - meanB * meanB;
      const covariance = product / count - meanA * meanB;
      sum +=
        ((2 * meanA * meanB + C1) * (2 * covariance + C2)) /
        ((meanA * meanA + meanB * meanB + C1) * (varianceA + varianceB + C2));
      windows += 1;
    }
  }
  return windows === 0 ? 1 : sum / windows;
}
