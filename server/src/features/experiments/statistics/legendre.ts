/** Nodes and weights of Gauss–Legendre quadrature on [−1, 1], by Newton's method on the polynomial. */
export function legendreNodes(count: number): { at: number; weight: number }[] {
  return Array.from({ length: count }, (_, index) => {
    let at = -Math.cos((Math.PI * (index + 0.75)) / (count + 0.5));
    let slope = 1;
    for (let round = 0; round < 100; round += 1) {
      let [current, before] = [1, 0];
      for (let degree = 1; degree <= count; degree += 1) {
        [current, before] = [
          ((2 * degree - 1) * at * current - (degree - 1) * before) / degree,
          current,
        ];
      }
      slope = (count * (at * current - before)) / (at * at - 1);
      const step = current / slope;
      at -= step;
      if (Math.abs(step) < 1e-15) break;
    }
    return { at, weight: 2 / ((1 - at * at) * slope * slope) };
  });
}
