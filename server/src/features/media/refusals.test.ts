import assert from 'node:assert/strict';
import { access, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { HostileName } from '../../../test/media-samples.ts';
import { MediaError, runMediaTask, type MediaErrorCode } from './media.ts';
import { GENEROUS, prepareSample, workFolder } from './testing/run-task.ts';

const EXPECTED: Record<HostileName, MediaErrorCode> = {
  'no-index.mp4': 'CORRUPT_MEDIA',
  'cut.mp4': 'CORRUPT_MEDIA',
  'cut.avi': 'CORRUPT_MEDIA',
  'cut.flv': 'CORRUPT_MEDIA',
  'cut.ts': 'CORRUPT_MEDIA',
  'empty.mp4': 'CORRUPT_MEDIA',
  'page.mp4': 'UNSUPPORTED_MEDIA',
  'picture.mp4': 'UNSUPPORTED_MEDIA',
  'document.mp4': 'UNSUPPORTED_MEDIA',
  'playlist.mp4': 'UNSUPPORTED_MEDIA',
  'concat.mp4': 'UNSUPPORTED_MEDIA',
  'random.mp4': 'UNSUPPORTED_MEDIA',
  'header-then-garbage.mp4': 'CORRUPT_MEDIA',
  'garbage-pictures.mp4': 'CORRUPT_MEDIA',
  'external-track.mov': 'CORRUPT_MEDIA',
};

async function refusal(run: () => Promise<unknown>): Promise<MediaError> {
  try {
    await run();
  } catch (error) {
    if (error instanceof MediaError) return error;
    throw error;
  }
  return assert.fail('it was accepted');
}

function isHostileName(name: string): name is HostileName {
  return Object.hasOwn(EXPECTED, name);
}

for (const [name, code] of Object.entries(EXPECTED)) {
  test(`${name} is refused as ${code}, for good, and leaves nothing behind`, async () => {
    assert.ok(isHostileName(name));
    await using folder = await workFolder();
    const error = await refusal(() => prepareSample(folder, name));
    assert.equal(error.code, code);
    assert.equal(error.retryable, false);
    assert.ok(!error.message.includes('/'), 'the message names no path');
    await assert.rejects(access(join(folder.path, 'prepared')));
  });
}

test('a track in another file is not followed, although that file is there', async () => {
  await using folder = await workFolder();
  const error = await refusal(() => prepareSample(folder, 'external-track.mov'));
  assert.match(error.detail, /Skipped opening external track/);
});

test('a recording longer than allowed is refused as TOO_LONG before any work', async () => {
  await using folder = await workFolder();
  const error = await refusal(() =>
    prepareSample(folder, 'landscape.mp4', { maxDurationSeconds: 4 }),
  );
  assert.equal(error.code, 'TOO_LONG');
  assert.equal(error.retryable, false);
});

test('an output folder with something in it is never written to', async () => {
  await using folder = await workFolder();
  const outputDir = join(folder.path, 'prepared');
  await mkdir(outputDir);
  await writeFile(join(outputDir, 'kept'), 'kept');
  await assert.rejects(prepareSample(folder, 'portrait.mp4'), /not empty/);
  await access(join(outputDir, 'kept'));
});

test('a script that begins like a GIF is taken for one, and refused', async () => {
  await using folder = await workFolder();
  const sourcePath = join(folder.path, 'script.gif');
  await writeFile(sourcePath, 'GIF89a/*\u0001\u0000*/=1;alert(1)', 'latin1');
  const outputDir = join(folder.path, 'out');
  const task = { sourcePath, outputDir, maxDurationSeconds: 60, quality: 'basic' } as const;
  const error = await refusal(() => runMediaTask({ type: 'prepare', ...task }, GENEROUS));
  assert.equal(error.retryable, false);
  assert.match(error.code, /^(CORRUPT|UNSUPPORTED)_MEDIA$/);
});
