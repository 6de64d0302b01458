/** Proves the numbered invariants of `segmenter.ts`, with the packets of a real encoder. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { messageType, type RtmpMessage } from '../rtmp/messages.ts';
import { audioHeader, videoHeader } from '../../../../test/live/headers.ts';
import { readSamples } from '../clips/segment-samples.ts';
import { IngestError } from './ingest-error.ts';
import { longestSegmentMs } from './playlists.ts';
import type { LiveSegment } from './segment-builder.ts';
import { Segmenter, type SegmenterStart } from './segmenter.ts';

const fresh: SegmenterStart = {
  baseMs: 0,
  number: 1,
  maxLengthMs: null,
  firstRecord: null,
  hasFormats: false,
};
const message = (type: number, timestamp: number, ...bytes: Buffer[]): RtmpMessage => ({
  type,
  streamId: 1,
  timestamp: timestamp >>> 0,
  payload: Buffer.concat(bytes),
});
const header = (record: Buffer) =>
  message(messageType.video, 0, Buffer.of(0x17, 0, 0, 0, 0), record);
const picture = (ms: number, isKey: boolean) =>
  message(messageType.video, ms, Buffer.of(isKey ? 0x17 : 0x27, 1, 0, 0, 0), Buffer.alloc(50, 1));
const soundHeader = () => message(messageType.audio, 0, Buffer.of(0xaf, 0), audioHeader);
const sound = (ms: number) =>
  message(messageType.audio, ms, Buffer.of(0xaf, 1), Buffer.alloc(9, 2));

type Sent = { from: number; to: number; keyEvery: number; frameMs?: number; shiftMs?: number };

/** Sends the pictures of a time span. Returns the segments that end. */
function send(segmenter: Segmenter, sent: Sent): LiveSegment[] {
  const { from, to, keyEvery, frameMs = 40, shiftMs = 0 } = sent;
  const segments: LiveSegment[] = [];
  for (let ms = from; ms < to; ms += frameMs) {
    segments.push(...segmenter.take(picture(ms + shiftMs, (ms - from) % keyEvery === 0)));
  }
  return segments;
}

function open(start: Partial<SegmenterStart> = {}): Segmenter {
  const segmenter = new Segmenter({ ...fresh, ...start });
  segmenter.take(header(videoHeader(320, 240)));
  return segmenter;
}

const totalMs = (segments: readonly (LiveSegment | null)[]) =>
  segments.reduce((sum, segment) => sum + (segment?.durationMs ?? 0), 0);

test('segments end at key frames after two seconds, and all of the time is in one', () => {
  const segmenter = open();
  const segments = send(segmenter, { from: 0, to: 9_000, keyEvery: 1_000 });
  assert.deepEqual(
    segments.map(({ durationMs }) => durationMs),
    [2_000, 2_000, 2_000, 2_000],
  );
  assert.equal(totalMs([...segments, segmenter.finish()]), 9_000);
  assert.ok(
    segments.every(({ isDiscontinuity, keyFrame }) => !isDiscontinuity && keyFrame !== null),
  );
});

for (const frameMs of [17, 20, 33, 40, 67, 100]) {
  test(`parts of pictures of ${frameMs} ms are as long as the target allows, and make their segment`, () => {
    const segmenter = open({ partMs: 500 });
    segmenter.take(soundHeader());
    const segments: LiveSegment[] = [];
    for (let ms = 0; ms < 12_000; ms += frameMs) {
      const isKey = ms === 0 || Math.floor(ms / 2_000) > Math.floor((ms - frameMs) / 2_000);
      segments.push(...segmenter.take(picture(ms, isKey)), ...segmenter.take(sound(ms)));
      const open = segmenter.open?.parts ?? [];
      assert.ok(open.every(({ durationMs }) => durationMs <= 500 && durationMs >= 400));
    }
    assert.ok(segments.length >= 5);
    for (const { parts, durationMs, bytes } of segments) {
      assert.ok(parts.every((part) => part.durationMs <= 500));
      assert.ok(parts.slice(0, -1).every((part) => part.durationMs >= 0.85 * 500));
      assert.equal(
        parts.reduce((sum, part) => sum + part.durationMs, 0),
        durationMs,
      );
      assert.deepEqual(Buffer.concat(parts.map((part) => part.bytes)), bytes);
      assert.deepEqual(
        parts.map(({ isIndependent }) => isIndependent),
        parts.map((_, index) => index === 0),
      );
    }
  });
}

test('parts lose no sample: a segment of parts holds what one without them holds', () => {
  const read = (partMs: number | null) => {
    const segmenter = open({ partMs, maxLengthMs: longestSegmentMs(2) });
    segmenter.take(soundHeader());
    const segments: LiveSegment[] = [];
    for (let ms = 0; ms < 20_000; ms += 40) {
      // Pictures are sometimes late, and key frames are so far apart that segments are cut between
      // them.
      if (ms % 3_000 < 600 && ms % 3_000 > 0) continue;
      segments.push(...segmenter.take(picture(ms, ms % 5_000 === 0)));
      segments.push(...segmenter.take(sound(ms)));
    }
    const samples = segments.map(({ bytes }) => readSamples(bytes));
    return {
      lengths: segments.map(({ durationMs }) => durationMs),
      video: samples.flatMap(({ video }) => video.map(({ at, duration }) => [at, duration])),
      audio: samples.reduce((count, { audio }) => count + audio.length, 0),
      sounds: segments.flatMap(({ sound }) => sound?.samples ?? []).length,
      starts: segments.map(({ sound }) => sound?.start),
    };
  };
  const [whole, parts] = [read(null), read(500)];
  assert.deepEqual(parts.lengths, whole.lengths);
  assert.deepEqual(parts.video, whole.video);
  assert.equal(parts.audio, parts.sounds);
  assert.equal(whole.audio, whole.sounds);
  assert.ok(Math.abs(parts.audio - whole.audio) <= 1);
  for (const [index, start] of parts.starts.entries()) {
    assert.ok(Math.abs((start ?? 0) - (whole.starts[index] ?? 0)) <= 1_024);
  }
});

test('parts of sound alone make their segments', () => {
  const segmenter = new Segmenter({ ...fresh, partMs: 500 });
  segmenter.take(soundHeader());
  const segments: LiveSegment[] = [];
  for (let ms = 0; ms < 12_000; ms += 23) segments.push(...segmenter.take(sound(ms)));
  assert.ok(segments.length >= 4);
  for (const { parts, durationMs } of segments) {
    assert.ok(parts.every((part) => part.durationMs > 0 && part.durationMs <= 500));
    assert.equal(
      parts.reduce((sum, part) => sum + part.durationMs, 0),
      durationMs,
    );
  }
});

for (const jump of [7_200_000, 30_000, -30_000, -7_200_000]) {
  for (const atKey of [true, false]) {
    test(`a jump of ${jump} ms ${atKey ? 'at' : 'between'} key frames adds no time`, () => {
      const segmenter = open();
      const cut = atKey ? 6_000 : 6_400;
      const before = send(segmenter, { from: 0, to: cut, keyEvery: 2_000, shiftMs: 8_000_000 });
      const after: LiveSegment[] = [];
      for (let ms = cut; ms < 12_000; ms += 40) {
        after.push(...segmenter.take(picture(8_000_000 + jump + ms, ms % 2_000 === 0)));
      }
      const all = [...before, ...after, segmenter.finish()];
      assert.ok(Math.abs(totalMs(all) - 12_000) < 100, String(totalMs(all)));
      assert.equal(all.filter((segment) => segment?.isDiscontinuity === true).length, 1);
      assert.ok(all.every((segment) => (segment?.durationMs ?? 0) <= 2_499));
    });
  }
}

test('a segment is never longer than the playlist promises, however rare key frames become', () => {
  const segmenter = open({ maxLengthMs: longestSegmentMs(2) });
  const often = send(segmenter, { from: 0, to: 4_000, keyEvery: 2_000 });
  const rare = send(segmenter, { from: 4_000, to: 30_000, keyEvery: 10_000 });
  const all = [...often, ...rare, segmenter.finish()];
  assert.ok(all.every((segment) => (segment?.durationMs ?? 0) <= 2_499));
  assert.equal(totalMs(all), 30_000);
  assert.ok(rare.some(({ keyFrame }) => keyFrame === null));
});

test('another size of the picture begins a format, whose pictures bring their headers along', () => {
  const segmenter = open();
  const first = send(segmenter, { from: 0, to: 4_000, keyEvery: 2_000 });
  segmenter.take(header(videoHeader(640, 480)));
  const second = send(segmenter, { from: 4_000, to: 8_000, keyEvery: 2_000 });
  segmenter.take(header(videoHeader(320, 240)));
  const third = send(segmenter, { from: 8_000, to: 12_000, keyEvery: 2_000 });
  const all = [...first, ...second, ...third, segmenter.finish()].map((segment) => [
    segment?.tracks.video?.width,
    segment?.isDiscontinuity,
    segment?.keyFrame?.length === 50,
  ]);
  assert.deepEqual(all, [
    [320, false, true],
    [320, false, true],
    [640, true, false],
    [640, false, false],
    [320, true, false],
    [320, false, false],
  ]);
});

test('sound without pictures is a stream, and pictures that come later are shown', () => {
  const segmenter = new Segmenter(fresh);
  segmenter.take(soundHeader());
  const segments: LiveSegment[] = [];
  for (let ms = 0; ms < 10_000; ms += 23) segments.push(...segmenter.take(sound(ms)));
  assert.equal(segmenter.hasStarted, true);
  assert.ok(segments.length >= 3 && segments.every(({ tracks }) => tracks.video === null));
  segmenter.take(header(videoHeader(320, 240)));
  const shown = send(segmenter, { from: 10_000, to: 14_100, keyEvery: 2_000 });
  assert.deepEqual(
    shown.map(({ tracks, isDiscontinuity }) => [tracks.video?.width, isDiscontinuity]),
    [
      [undefined, false],
      [320, true],
      [320, false],
    ],
  );
  assert.ok(Math.abs(totalMs([...segments, ...shown, segmenter.finish()]) - 12_600) < 200);
});

test('pictures without a header, and sound that changes, are refused', () => {
  const segmenter = new Segmenter(fresh);
  assert.throws(() => segmenter.take(picture(0, true)), IngestError);
  const other = open();
  other.take(soundHeader());
  other.take(picture(0, true));
  const changed = message(messageType.audio, 0, Buffer.of(0xaf, 0), Buffer.of(0x11, 0x90));
  assert.throws(() => other.take(changed), IngestError);
});
