/** Tests how the health of a stream is derived from its tags. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { messageType } from '../rtmp/messages.ts';
import type { Tracks } from './init-segment.ts';
import { StreamMeter } from './stream-meter.ts';

const both = { video: {}, audio: {} } as unknown as Tracks;
const soundOnly = { video: null, audio: {} } as unknown as Tracks;
const pictureOnly = { video: {}, audio: null } as unknown as Tracks;

/** An H.264 tag: a picture, or the decoder configuration. */
function picture(timestamp: number, { isKey = false, isHeader = false, bytes = 100 } = {}) {
  const payload = Buffer.alloc(bytes);
  payload[0] = isKey || isHeader ? 0x17 : 0x27;
  payload[1] = isHeader ? 0 : 1;
  return { type: messageType.video, timestamp, payload, streamId: 1 };
}

/** Adds one second of pictures, starting with a key frame. Returns the health afterwards. */
function second(meter: StreamMeter, number: number, pace = 1, pictures = 25, tracks = both) {
  for (let at = 0; at < pictures; at += 1) {
    const timestamp = Math.round((number + at / pictures) * 1_000 * pace);
    meter.take(picture(timestamp, { isKey: at === 0 }));
  }
  return meter.read(tracks, 0);
}

test('rates are means over the last five seconds', () => {
  const meter = new StreamMeter();
  const first = second(meter, 0);
  assert.deepEqual([first.bitrate, first.frameRate, first.keyFrameInterval], [20_000, 25, null]);
  for (let number = 1; number <= 4; number += 1) second(meter, number);
  const slower = second(meter, 5, 1, 5);
  assert.deepEqual([slower.frameRate, slower.keyFrameInterval], [21, 1]);
  assert.deepEqual(slower.warnings, []);
});

test('headers are not pictures, and a clock jump is not a key frame interval', () => {
  const meter = new StreamMeter();
  meter.take(picture(0, { isHeader: true }));
  assert.equal(meter.read(both, 0).frameRate, 0);
  for (const at of [0, 2_000, 90_000, 1_000]) meter.take(picture(at, { isKey: true }));
  assert.equal(meter.read(both, 0).keyFrameInterval, 2);
  meter.take(picture(5_001, { isKey: true }));
  assert.deepEqual(meter.read(both, 0).warnings, ['KEY_FRAMES_FAR_APART']);
});

test('a connection that is too slow is reported after five seconds', () => {
  const [slow, enough] = [new StreamMeter(), new StreamMeter()];
  for (let number = 0; number < 5; number += 1) {
    const { warnings } = second(slow, number, 0.7);
    assert.deepEqual(warnings, number < 4 ? [] : ['BEHIND'], `second ${number}`);
    assert.deepEqual(second(enough, number, 0.9).warnings, []);
  }
});

test('missing media, clock jumps and dropped renditions are reported', () => {
  const meter = new StreamMeter();
  assert.deepEqual(meter.read(soundOnly, 0).warnings, ['NO_PICTURE']);
  assert.deepEqual(meter.read(pictureOnly, 2).warnings, ['CLOCK_JUMPED', 'NO_SOUND']);
  const rung = { height: 360, state: 'dropped' } as never;
  assert.deepEqual(new StreamMeter().read(both, 0, [rung]).warnings, ['RENDITIONS_DROPPED']);
});
