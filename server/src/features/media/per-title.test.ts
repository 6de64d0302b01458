import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planLadder } from './ladder.ts';
import { withoutNeedless } from './per-title.ts';

function kept(videoBps: number, quality: 'basic' | 'plus' = 'basic'): string[] {
  const source = { width: 1080, height: 1920, maxFrameRate: 30, hasAudio: true };
  const { first, remaining } = planLadder(source, { quality });
  assert.ok(first.kind === 'video');
  return withoutNeedless(remaining, first, videoBps).map(({ name }) => name);
}

test('a title with many bits gets every rendition', () => {
  assert.deepEqual(kept(2_000_000), ['1080', '540', '360', '240', 'audio']);
});

test('no rendition is created below one that is already small', () => {
  assert.deepEqual(kept(400_000), ['1080', '540', '360', 'audio']);
  assert.deepEqual(kept(100_000), ['1080', 'audio']);
});

test('a rendition that is small in H.264 is not created again in AV1', () => {
  assert.deepEqual(kept(140_000, 'plus'), ['1080', '1080av1', 'audio']);
});
