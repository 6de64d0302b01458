/** Tests which samples a clip contains, and that its file references each at its offset. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readAacHeader } from '../ingest/aac-header.ts';
import { readVideoHeader } from '../ingest/video-header.ts';
import { audioHeader, videoHeader } from '../../../../test/live/headers.ts';
import { mediaSegment, type MediaSample } from '../ingest/media-segment.ts';
import { chooseSamples, clipHeader } from './clip-file.ts';
import { readSamples } from './segment-samples.ts';

const sampleRate = 44_100;
const tracks = {
  video: readVideoHeader('avc1', videoHeader(64, 64)),
  audio: readAacHeader(audioHeader),
};

/** Two seconds with a key frame at the start; each sample is filled with its number. */
function segment(number: number): Buffer {
  const pictures = Array.from({ length: 50 }, (_, index): MediaSample => {
    const data = Buffer.alloc(4 + (index % 5), index);
    return { data, duration: 3_600, isKey: index === 0, offset: index === 0 ? 0 : 3_600 };
  });
  const sounds = Array.from({ length: 86 }, (_, index): MediaSample => {
    return { data: Buffer.alloc(3, index), duration: 1_024, isKey: true, offset: 0 };
  });
  return mediaSegment(number, {
    video: { start: (number - 1) * 180_000, samples: pictures },
    audio: { start: (number - 1) * 88_200, samples: sounds },
  });
}

const segments = [1, 2, 3].map(segment);
const parts = segments.map((source) => ({ source, samples: readSamples(source) }));

test('a segment is read as it was written', () => {
  const [first] = segments;
  assert.ok(first !== undefined);
  const { video, audio } = readSamples(first);
  assert.deepEqual([video.length, audio.length], [50, 86]);
  const [, second] = video;
  assert.ok(second !== undefined);
  assert.deepEqual(
    [second.at, second.duration, second.offset, second.isKey, second.size],
    [3_600, 3_600, 3_600, false, 5],
  );
  assert.deepEqual(
    first.subarray(second.position, second.position + second.size),
    Buffer.alloc(5, 1),
  );
  assert.throws(() => readSamples(Buffer.alloc(20)), RangeError);
});

test('a clip begins with the key frame before it, and ends where it should', () => {
  const span = { startMs: 2_500, endMs: 4_100 };
  const chosen = chooseSamples(parts, span, sampleRate);
  assert.deepEqual(
    chosen.map(({ samples }) => samples.video.length),
    [0, 50, 3],
  );
  const sounds = chosen.flatMap(({ samples }) => samples.audio);
  assert.ok((sounds[0]?.at ?? 0) <= 2.5 * sampleRate);
  assert.ok((sounds[0]?.at ?? 0) > 2.4 * sampleRate);
  assert.ok((sounds.at(-1)?.at ?? 0) < 4.1 * sampleRate);
});

test('the file holds each sample where its tables say', () => {
  const span = { startMs: 500, endMs: 4_100 };
  const chosen = chooseSamples(parts, span, sampleRate);
  const bodies = chosen.flatMap(({ source, samples }) =>
    [...samples.video, ...samples.audio].map(({ position, size }) =>
      source.subarray(position, position + size),
    ),
  );
  const file = Buffer.concat([clipHeader(tracks, chosen, span), ...bodies]);
  const at = (name: string, from = 0) => file.indexOf(name, from, 'latin1') + 4;
  const mdat = at('mdat');
  assert.equal(Number(file.readBigUInt64BE(mdat)), file.length - mdat + 8);
  // The second video chunk starts with the second segment's key frame.
  const co64 = at('co64');
  assert.equal(file.readUInt32BE(co64 + 4), 3);
  const second = Number(file.readBigUInt64BE(co64 + 16));
  assert.deepEqual(file.subarray(second, second + 9), Buffer.from([0, 0, 0, 0, 1, 1, 1, 1, 1]));
  // Half a second of pictures is decoded but not shown.
  const elst = at('elst');
  assert.deepEqual([file.readUInt32BE(elst + 8), file.readUInt32BE(elst + 12)], [3_600, 45_000]);
  const stss = at('stss');
  assert.deepEqual(
    [4, 8, 12, 16].map((offset) => file.readUInt32BE(stss + offset)),
    [3, 1, 51, 101],
  );
});
