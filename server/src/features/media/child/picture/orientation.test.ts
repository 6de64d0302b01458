import assert from 'node:assert/strict';
import { test } from 'node:test';
import { matrixForRotation, orientationFromMatrix } from './orientation.ts';

function matrix(a: number, b: number, c: number, d: number): Buffer {
  return Buffer.from(new Int32Array([a, b, 0, c, d, 0, 0, 0, 0x40000000]).buffer);
}

test('every quarter turn is read back as it was written', () => {
  for (const degrees of [0, 90, 180, 270] as const) {
    const orientation = orientationFromMatrix(matrixForRotation(degrees));
    assert.equal(orientation.rotationDegrees, degrees);
    assert.equal(orientation.isTransposed, degrees === 90 || degrees === 270);
  }
});

test('turns and mirrors name the filters that apply them', () => {
  assert.deepEqual(orientationFromMatrix(matrix(0, 1, -1, 0)).filters, ['transpose=clock']);
  assert.deepEqual(orientationFromMatrix(matrix(0, -1, 1, 0)).filters, ['transpose=cclock']);
  assert.deepEqual(orientationFromMatrix(matrix(-1, 0, 0, -1)).filters, ['hflip', 'vflip']);
  assert.deepEqual(orientationFromMatrix(matrix(-1, 0, 0, 1)).filters, ['hflip']);
});

test('a missing, short or empty matrix means upright', () => {
  for (const bytes of [null, Buffer.alloc(8), matrix(0, 0, 0, 0)]) {
    assert.deepEqual(orientationFromMatrix(bytes).filters, []);
  }
});
