/**
 * Proves that HEIC images as written by phones are decoded correctly, and that broken ones are
 * rejected.
 */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import sharp from 'sharp';
import { decodeHeic } from './child/picture/heic.ts';
import { MediaError, runMediaTask } from './media.ts';
import { heicBytes, type HeicSpec } from './testing/heic.ts';
import { GENEROUS, workFolder } from './testing/run-task.ts';

const tiles = [
  ['red', 'lime', 'blue'],
  ['white', 'black', 'yellow'],
];
const spec: HeicSpec = { tiles, width: 360, height: 250 };
const bounds = { maxPixels: 1_000_000, width: 1440, height: 2560 };

/** Returns the color at a position given as fractions of the size. */
async function pixelReader(image: Buffer | string) {
  const { data, info } = await sharp(image)
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  return (x: number, y: number): number[] => {
    const at = (Math.floor(y * info.height) * info.width + Math.floor(x * info.width)) * 3;
    return [...data.subarray(at, at + 3)];
  };
}

function assertColor(actual: number[], expected: readonly number[], where: string): void {
  const difference = Math.max(
    ...actual.map((value, index) => Math.abs(value - (expected[index] ?? 0))),
  );
  assert.ok(difference < 24, `${where}: ${actual.join()} is not ${expected.join()}`);
}

test('a grid of tiles is joined, cut to its canvas and turned, inside the cage', async () => {
  await using folder = await workFolder();
  const sourcePath = join(folder.path, 'photo');
  await writeFile(sourcePath, await heicBytes({ ...spec, quarterTurnsLeft: 3 }));
  const outputDir = join(folder.path, 'out');
  const size = await runMediaTask({ type: 'image', sourcePath, outputDir }, GENEROUS);
  assert.deepEqual(size, { width: 250, height: 360 });
  for (const name of ['large.jpg', 'small.jpg']) {
    const color = await pixelReader(join(outputDir, name));
    // A quarter turn clockwise: the left column, read upwards, becomes the top row.
    assertColor(color(0.8, 0.15), [255, 0, 0], 'top right');
    assertColor(color(0.2, 0.15), [255, 255, 255], 'top left');
    assertColor(color(0.8, 0.5), [0, 255, 0], 'right');
    assertColor(color(0.8, 0.9), [0, 0, 255], 'bottom right');
    assertColor(color(0.2, 0.9), [255, 255, 0], 'bottom left');
    const { exif, icc } = await sharp(join(outputDir, name)).metadata();
    assert.deepEqual([exif, icc], [undefined, undefined]);
  }
});

test('a color profile comes along, and a large image is scaled down', async () => {
  const swatch = sharp({ create: { width: 8, height: 8, channels: 3, background: '#000' } });
  const { icc } = await sharp(await swatch.withIccProfile('p3').png().toBuffer()).metadata();
  assert.ok(icc !== undefined);
  const image = { tiles: [['0xc86464']], tileSide: 256 };
  const small = { ...bounds, width: 100, height: 100 };
  const plain = await pixelReader(await decodeHeic(await heicBytes(image), small));
  assertColor(plain(0.5, 0.5), [200, 100, 100], 'without a profile');
  const wide = await decodeHeic(await heicBytes({ ...image, iccProfile: icc }), small);
  assert.deepEqual((await sharp(wide).metadata()).icc, icc);
  const converted = await pixelReader(await sharp(wide).toColourspace('srgb').png().toBuffer());
  const [red = 0, green = 0] = converted(0.5, 0.5);
  assert.ok(red > 205 && green < 98, `Display P3 as sRGB: ${red}, ${green}`);
});

async function refusalOf(bytes: Buffer): Promise<MediaError> {
  try {
    await decodeHeic(bytes, bounds);
  } catch (error) {
    assert.ok(error instanceof MediaError, String(error));
    return error;
  }
  throw new assert.AssertionError({ message: 'the image was decoded' });
}

test('a size other than that of the picture is rejected, and an oversized one before decoding', async () => {
  for (const flood of [
    await heicBytes({ ...spec, width: 60_000, height: 60_000 }),
    await heicBytes({ ...spec, claimedSize: [60_000, 60_000] }),
  ]) {
    const { code, message } = await refusalOf(flood);
    assert.deepEqual(
      [code, message],
      ['UNSUPPORTED_MEDIA', 'The image has more than 1000000 pixels.'],
    );
  }
  const flooding = await refusalOf(await heicBytes({ ...spec, claimedTileSide: 60_000 }));
  assert.equal(flooding.code, 'UNSUPPORTED_MEDIA');
  for (const lie of [
    { claimedSize: [36, 25] as const },
    { claimedTileSide: 64 },
    { claimedTileSide: 256 },
    { width: 900, height: 900 },
  ]) {
    const { code } = await refusalOf(await heicBytes({ ...spec, ...lie }));
    assert.equal(code, 'CORRUPT_MEDIA', JSON.stringify(lie));
  }
});

test('a HEIC file cut anywhere is refused, and so is something else behind its first bytes', async () => {
  const whole = await heicBytes(spec);
  for (let length = 24; length < whole.length; length += 23) {
    const { code } = await refusalOf(whole.subarray(0, length));
    assert.equal(code, 'CORRUPT_MEDIA', `cut after ${length} bytes`);
  }
  assert.equal(
    (await refusalOf(whole.subarray(0, -1))).code,
    'CORRUPT_MEDIA',
    'one byte is missing',
  );
  const head = whole.subarray(0, 24);
  for (const rest of [
    '<html><script>alert(1)</script></html>',
    '%PDF-1.7\n'.repeat(9),
    'PK\x03\x04'.repeat(9),
  ]) {
    const { code } = await refusalOf(Buffer.concat([head, Buffer.from(rest)]));
    assert.equal(code, 'CORRUPT_MEDIA', rest.slice(0, 12));
  }
});

test('bytes after a complete HEIC image are dropped', async () => {
  const script = Buffer.from('<script>alert(1)</script>');
  const drawn = await decodeHeic(Buffer.concat([await heicBytes(spec), script]), bounds);
  assert.ok(!drawn.includes('<script>'));
});
