/** Rotation and mirroring to apply to stored pictures for display. */
export type Orientation = {
  /** Clockwise rotation in degrees. */
  readonly rotationDegrees: 0 | 90 | 180 | 270;
  /** Whether width and height are swapped. */
  readonly isTransposed: boolean;
  /** FFmpeg filters that apply the rotation, in order. */
  readonly filters: readonly string[];
};

const UPRIGHT: Orientation = { rotationDegrees: 0, isTransposed: false, filters: [] };

/** Size of a display matrix: nine 32-bit integers, as in the MP4 `tkhd` box and FFmpeg. */
const MATRIX_BYTES = 36;

/**
 * Reads a display matrix in native byte order, as FFmpeg stores it.
 *
 * Only the linear part matters: x' = a·x + c·y, y' = b·x + d·y. Rotations are rounded to the
 * nearest quarter turn, as players do.
 */
export function orientationFromMatrix(matrix: Buffer | null): Orientation {
  if (matrix === null || matrix.length < MATRIX_BYTES) return UPRIGHT;
  const values = new Int32Array(
    matrix.buffer.slice(matrix.byteOffset, matrix.byteOffset + MATRIX_BYTES),
  );
  const [a = 0, b = 0, , c = 0, d = 0] = values;
  if (Math.abs(a) + Math.abs(d) >= Math.abs(b) + Math.abs(c)) return uprightOrFlipped(a, d);
  return transposed(b, c);
}

function uprightOrFlipped(a: number, d: number): Orientation {
  const filters = [...(a < 0 ? ['hflip'] : []), ...(d < 0 ? ['vflip'] : [])];
  const isHalfTurn = a < 0 && d < 0;
  return { rotationDegrees: isHalfTurn ? 180 : 0, isTransposed: false, filters };
}

function transposed(b: number, c: number): Orientation {
  const turn = (rotationDegrees: 90 | 270, direction: string): Orientation => ({
    rotationDegrees,
    isTransposed: true,
    filters: [`transpose=${direction}`],
  });
  if (c < 0) return b > 0 ? turn(90, 'clock') : turn(90, 'clock_flip');
  return b < 0 ? turn(270, 'cclock') : turn(270, 'cclock_flip');
}

/** The display matrix for a clockwise rotation; the inverse of {@link orientationFromMatrix}. */
export function matrixForRotation(rotationDegrees: 0 | 90 | 180 | 270): Buffer {
  const one = 0x10000;
  const linear = {
    0: [one, 0, 0, one],
    90: [0, one, -one, 0],
    180: [-one, 0, 0, -one],
    270: [0, -one, one, 0],
  } as const;
  const [a, b, c, d] = linear[rotationDegrees];
  return Buffer.from(new Int32Array([a, b, 0, c, d, 0, 0, 0, 0x40000000]).buffer);
}
