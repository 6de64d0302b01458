/** Proves that a rendition that would not play is detected before its item becomes ready. */
import assert from 'node:assert/strict';
import { copyFile, cp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { verifyAlignment, verifyAll, verifyRendition } from './child/rendition/verify.ts';
import { MediaError } from './media.ts';
import { prepareSample, workFolder } from './testing/run-task.ts';

const folder = await workFolder();
after(() => folder[Symbol.asyncDispose]());
const { info, outputDir, rungs } = await prepareSample(folder, 'landscape.mp4');
const [rung] = rungs;
assert.ok(rung !== undefined);
const expected = { durationSeconds: info.durationSeconds, hasSound: true, hasShortStart: true };

/** A copy of the rendition with its folder modified. */
async function changed(name: string, change: (rungFolder: string) => Promise<void>) {
  const copy = join(folder.path, name);
  await cp(outputDir, copy, { recursive: true });
  assert.ok(rung !== undefined);
  await change(join(copy, rung.name));
  return verifyRendition(copy, rung, expected);
}

const refused = (detail: RegExp) => (error: unknown) =>
  error instanceof MediaError && !error.retryable && detail.test(error.detail);

test('a whole rendition is taken, and its segments start where they are cut', async () => {
  assert.ok(rung !== undefined);
  const cuts = await verifyRendition(outputDir, rung, expected);
  assert.deepEqual(
    cuts.map((cut) => Math.round(cut * 1_000)),
    [200, 1_200, 3_200],
  );
});

test('a segment that is cut off, missing or repeated is noticed', async () => {
  await assert.rejects(
    changed('cut', async (path) => {
      const bytes = await readFile(join(path, '001.m4s'));
      await writeFile(join(path, '001.m4s'), bytes.subarray(0, -100));
    }),
    refused(/001\.m4s: a segment is cut off/),
  );
  await assert.rejects(
    changed('missing', (path) => rm(join(path, '001.m4s'))),
    refused(/001\.m4s: ENOENT/),
  );
  await assert.rejects(
    changed('repeated', (path) => copyFile(join(path, '000.m4s'), join(path, '001.m4s'))),
    refused(/001\.m4s: the (video|audio) jumps by -1/),
  );
});

test('a playlist that ends early or says another length is noticed', async () => {
  const edit = (from: RegExp, to: string) => async (path: string) => {
    const file = join(path, 'index.m3u8');
    await writeFile(file, (await readFile(file, 'utf8')).replace(from, to));
  };
  await assert.rejects(
    changed('short', edit(/#EXTINF:[\d.]+,\n002\.m4s\n/, '')),
    refused(/it has 3.* of 5 s/),
  );
  await assert.rejects(
    changed('lying', edit(/#EXTINF:[\d.]+,\n002/, '#EXTINF:1.0,\n002')),
    refused(/002\.m4s has 2.* the playlist says 1 s/),
  );
  await assert.rejects(changed('open', edit(/#EXT-X-ENDLIST\n/, '')), refused(/has no end/));
});

test('a playlist that players would go on to follow, or that breaks its target, is noticed', async () => {
  const edit = (from: RegExp, to: string) => async (path: string) => {
    const file = join(path, 'index.m3u8');
    await writeFile(file, (await readFile(file, 'utf8')).replace(from, to));
  };
  await assert.rejects(changed('event', edit(/TYPE:VOD/, 'TYPE:EVENT')), refused(/may still grow/));
  await assert.rejects(
    changed('target', edit(/TARGETDURATION:\d+/, 'TARGETDURATION:1')),
    refused(/001\.m4s is longer than 1 s/),
  );
});

test('a first segment that is no shorter than the others is noticed', async () => {
  await assert.rejects(
    changed('slow', async (path) => {
      const [first, second] = await Promise.all(
        ['000.m4s', '001.m4s'].map((name) => readFile(join(path, name))),
      );
      assert.ok(first !== undefined && second !== undefined);
      await writeFile(join(path, '000.m4s'), Buffer.concat([first, second]));
      const file = join(path, 'index.m3u8');
      const joined = (await readFile(file, 'utf8'))
        .replace(/TARGETDURATION:\d+/, 'TARGETDURATION:3')
        .replace(/#EXTINF:[\d.]+,\n000\.m4s\n#EXTINF:[\d.]+/, '#EXTINF:3.0,\n000.m4s\n#EXTINF:0')
        .replace(/#EXTINF:0,\n001\.m4s\n/, '');
      await writeFile(file, joined);
    }),
    refused(/000\.m4s has 3 s, and not a second/),
  );
});

test('sound that is missing is noticed', async () => {
  await using silent = await workFolder();
  const made = await prepareSample(silent, 'silent.mp4');
  const [picture] = made.rungs;
  assert.ok(picture !== undefined);
  const withSound = {
    durationSeconds: made.info.durationSeconds,
    hasSound: true,
    hasShortStart: true,
  };
  await assert.rejects(
    verifyRendition(made.outputDir, picture, withSound),
    refused(/the sound is missing/),
  );
});

test('each rendition of an item is read, those without a picture by their sound', async () => {
  await using sounds = await workFolder();
  const made = await prepareSample(sounds, 'audio-only.m4a');
  const item = { ...made.info, hasShortStart: true, isSoundApart: false };
  assert.deepEqual(await verifyAll(made.outputDir, made.rungs, item, null), []);
  const longer = { ...item, durationSeconds: item.durationSeconds + 1 };
  await assert.rejects(
    verifyAll(made.outputDir, made.rungs, longer, null),
    refused(/rendition audio: it has/),
  );
  const whole = { ...info, hasShortStart: true, isSoundApart: false };
  await assert.rejects(
    verifyAll(outputDir, rungs, whole, [0.2, 2.2, 4.2]),
    refused(/the segments of .* are not those of first/),
  );
});

test('renditions whose segments lie apart are noticed', () => {
  verifyAlignment(
    new Map([
      ['720', [0.2, 2.2]],
      ['360', [0.2, 2.25]],
    ]),
  );
  const apart = new Map([
    ['720', [0.2, 2.2]],
    ['360', [0.2, 2.7]],
  ]);
  assert.throws(() => verifyAlignment(apart), refused(/the segments of 360/));
});
