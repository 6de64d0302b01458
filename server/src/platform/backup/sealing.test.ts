/** Proves that sealed files open completely or not at all. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { seal, SealError, unseal } from './sealing.ts';

const key = randomBytes(32);
const chunk = 64 * 1_024;

async function* cut(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const join = async (source: AsyncIterable<Uint8Array>) =>
  Buffer.concat(await Array.fromAsync(source));
const sealed = (plain: Buffer, name = 'a/b') => join(seal(cut(plain, 1_000), key, name));
const opened = (bytes: Buffer, name = 'a/b', by = key) => join(unseal(cut(bytes, 777), by, name));

test('every length opens to what was sealed', async () => {
  for (const length of [0, 1, chunk - 1, chunk, chunk + 1, 3 * chunk, 3 * chunk + 17]) {
    const plain = randomBytes(length);
    const bytes = await sealed(plain);
    assert.ok(plain.equals(await opened(bytes)), `${length}`);
    assert.ok(length < 32 || !bytes.includes(plain.subarray(0, 32)));
  }
});

test('two files with the same bytes have nothing in common once sealed', async () => {
  const plain = Buffer.alloc(100);
  const [a, b] = [await sealed(plain), await sealed(plain)];
  assert.notDeepEqual(a.subarray(20, 40), b.subarray(20, 40));
});

test('another key, name or byte, a cut and an exchange of chunks are refused', async () => {
  const bytes = await sealed(randomBytes(3 * chunk));
  const part = chunk + 16;
  const header = bytes.subarray(0, 20);
  const chunks = [0, 1, 2].map((n) => bytes.subarray(20 + n * part, 20 + (n + 1) * part));
  const flipped = Buffer.from(bytes);
  flipped[chunk] = (flipped[chunk] ?? 0) ^ 1;
  const wrong: Record<string, Promise<Buffer>> = {
    key: opened(bytes, 'a/b', randomBytes(32)),
    name: opened(bytes, 'a/c'),
    byte: opened(flipped),
    cut: opened(bytes.subarray(0, -1)),
    'a chunk less': opened(bytes.subarray(0, -part)),
    header: opened(header),
    nothing: opened(Buffer.alloc(0)),
    'no seal': opened(randomBytes(200)),
    order: opened(Buffer.concat([header, ...[1, 0, 2].map((n) => chunks[n] ?? header)])),
    'a chunk more': opened(Buffer.concat([bytes, chunks[0] ?? header])),
  };
  for (const [what, opening] of Object.entries(wrong)) {
    await assert.rejects(opening, SealError, what);
  }
});
