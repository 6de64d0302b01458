/**
 * Proves that segments contain what was written to them, by reading their boxes as ISO/IEC 14496-12
 * defines them.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readAacHeader } from './aac-header.ts';
import { readVideoHeader } from './video-header.ts';
import { audioHeader, videoHeader } from '../../../../test/live/headers.ts';
import { initSegment, withDuration } from './init-segment.ts';
import { mediaSegment, type MediaSample, type TrackRun } from './media-segment.ts';

type Box = { name: string; at: number; bytes: Buffer };

/** The consecutive boxes. @throws AssertionError if they do not fill the bytes exactly */
function boxesOf(bytes: Buffer): Box[] {
  const boxes: Box[] = [];
  let at = 0;
  while (at < bytes.length) {
    const size = bytes.readUInt32BE(at);
    assert.ok(size >= 8 && at + size <= bytes.length, `a box of ${size} bytes at ${at}`);
    const name = bytes.toString('latin1', at + 4, at + 8);
    boxes.push({ name, at, bytes: bytes.subarray(at + 8, at + size) });
    at += size;
  }
  return boxes;
}

function inside(bytes: Buffer, ...path: readonly string[]): Buffer {
  return path.reduce((within, name) => {
    const found = boxesOf(within).find((box) => box.name === name);
    assert.ok(found !== undefined, `the box ${name}`);
    return found.bytes;
  }, bytes);
}

/** The samples of a fragment's track, each with its bytes. */
function readTrack(segment: Buffer, traf: Buffer): { track: number; run: TrackRun } {
  const track = inside(traf, 'tfhd').readUInt32BE(4);
  const start = Number(inside(traf, 'tfdt').readBigUInt64BE(4));
  const trun = inside(traf, 'trun');
  let dataAt = trun.readUInt32BE(8);
  const samples = Array.from({ length: trun.readUInt32BE(4) }, (_, index): MediaSample => {
    const at = 12 + index * 16;
    const size = trun.readUInt32BE(at + 4);
    const data = segment.subarray(dataAt, dataAt + size);
    dataAt += size;
    const isKey = (trun.readUInt32BE(at + 8) & 0x1_0000) === 0;
    return { data, duration: trun.readUInt32BE(at), isKey, offset: trun.readInt32BE(at + 12) };
  });
  return { track, run: { start, samples } };
}

const sample = fc.record(
  {
    data: fc.uint8Array({ minLength: 1, maxLength: 80 }).map((array) => Buffer.from(array)),
    duration: fc.nat({ max: 2 ** 31 - 1 }),
    isKey: fc.boolean(),
    offset: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
  },
  { noNullPrototype: true },
);
const run = fc.record(
  { start: fc.nat({ max: 2 ** 31 - 1 }), samples: fc.array(sample, { maxLength: 20 }) },
  { noNullPrototype: true },
);
const runOrNone = fc.option(run);

test('whatever samples are put into a segment can be taken out of it', () => {
  fc.assert(
    fc.property(fc.nat(), runOrNone, runOrNone, (number, video, audio) => {
      const segment = mediaSegment(number, { video, audio });
      const moof = inside(segment, 'moof');
      assert.equal(inside(moof, 'mfhd').readUInt32BE(4), number);
      const read = boxesOf(moof)
        .filter(({ name }) => name === 'traf')
        .map(({ bytes }) => readTrack(segment, bytes));
      const given = [
        { track: 1, run: video },
        { track: 2, run: audio },
      ].filter((one) => one.run !== null && one.run.samples.length > 0);
      assert.deepEqual(read, given);
    }),
  );
});

test('the header names its tracks, and grows by its length alone', () => {
  const video = readVideoHeader('avc1', videoHeader(640, 360));
  const audio = readAacHeader(audioHeader);
  for (const [tracks, handlers] of [
    [{ video, audio }, ['vide', 'soun']],
    [{ video, audio: null }, ['vide']],
    [{ video: null, audio }, ['soun']],
  ] as const) {
    const init = initSegment(tracks);
    const moov = inside(init, 'moov');
    const traks = boxesOf(moov).filter(({ name }) => name === 'trak');
    assert.deepEqual(
      traks.map(({ bytes }) => inside(bytes, 'mdia', 'hdlr').toString('latin1', 8, 12)),
      handlers,
    );
    assert.equal(
      boxesOf(inside(moov, 'mvex')).filter(({ name }) => name === 'trex').length,
      handlers.length,
    );
    const longer = withDuration(init, 12_345);
    assert.equal(Number(inside(longer, 'moov', 'mvex', 'mehd').readBigUInt64BE(4)), 12_345);
    assert.deepEqual(
      boxesOf(inside(longer, 'moov')).map(({ name }) => name),
      boxesOf(moov).map(({ name }) => name),
    );
  }
});
