/** Tests what is read from the headers and tags that encoders send. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readAacHeader } from './aac-header.ts';
import { BitReader } from './bit-reader.ts';
import { readAudioTag, readVideoTag } from './flv-tags.ts';
import { h264ParameterSets, readH264Header } from './h264-header.ts';
import { audioHeader, av1Header, h265Header, videoHeader } from '../../../../test/live/headers.ts';
import { IngestError } from './ingest-error.ts';
import { inStreamHeader, readVideoHeader } from './video-header.ts';

test('the size of the picture is read from whatever header an encoder writes', () => {
  const side = fc.integer({ min: 1, max: 2_048 }).map((half) => half * 2);
  fc.assert(
    fc.property(side, side, (width, height) => {
      const header = readH264Header(videoHeader(width, height));
      assert.deepEqual([header.width, header.height], [width, height]);
      assert.equal(header.codec, 'avc1.42c01e');
    }),
  );
});

test('a High profile header of x264 is read', () => {
  // 1920x1080, with cropping and scaling flags: FFmpeg's libx264 with its default settings.
  const record = Buffer.from(
    '01640028ffe1001b67640028acd940780227e5c044000003000400000300f03c60c65801000668ebe3cb22c0',
    'hex',
  );
  const { width, height, codec } = readH264Header(record);
  assert.deepEqual([width, height, codec], [1920, 1080, 'avc1.640028']);
});

test('parameter sets are written with lengths of four bytes', () => {
  const record = videoHeader(320, 240);
  const sets = h264ParameterSets(record);
  const spsLength = record.readUInt16BE(6);
  assert.equal(sets.readUInt32BE(0), spsLength);
  assert.equal(sets[4], 0x67);
  assert.equal(sets.readUInt32BE(4 + spsLength), 4);
  assert.equal(sets.length, 4 + spsLength + 4 + 4);
  const cut = record.subarray(0, record.length - 2);
  assert.throws(() => h264ParameterSets(cut), IngestError);
});

test('headers of HEVC and AV1 are read as FFmpeg writes them', () => {
  const hevc = readVideoHeader('hvc1', h265Header);
  assert.deepEqual([hevc.width, hevc.height, hevc.codec], [320, 180, 'hvc1.1.6.L60.90']);
  const sets = inStreamHeader(hevc);
  const kinds: number[] = [];
  for (let at = 0; at < sets.length; at += 4 + sets.readUInt32BE(at)) {
    kinds.push(((sets[at + 4] ?? 0) >> 1) & 63);
  }
  assert.deepEqual(kinds, [32, 33, 34]);
  const av1 = readVideoHeader('av01', av1Header);
  assert.deepEqual([av1.width, av1.height, av1.codec], [320, 180, 'av01.0.00M.08']);
  assert.deepEqual(inStreamHeader(av1), av1Header.subarray(4));
  for (const [codec, record] of [
    ['hvc1', h265Header],
    ['av01', av1Header],
  ] as const) {
    for (const length of [0, 4, 8]) {
      assert.throws(() => readVideoHeader(codec, record.subarray(0, length)), IngestError);
    }
  }
});

test('enhanced tags carry HEVC and AV1', () => {
  const tag = (text: string) => readVideoTag(Buffer.from(text, 'latin1'));
  const picture = { isHeader: false, isKey: true, offsetMs: 0 };
  const data = Buffer.of(9);
  assert.deepEqual(tag('\x90hvc1\t'), { ...picture, codecId: 'hvc1', isHeader: true, data });
  const late = { ...picture, codecId: 'hvc1', isKey: false, offsetMs: 40, data };
  assert.deepEqual(tag('\xa1hvc1\0\0\x28\t'), late);
  assert.deepEqual(tag('\x93hvc1\t'), { ...picture, codecId: 'hvc1', data });
  assert.deepEqual(tag('\x91av01\x12\0\t'), { ...picture, codecId: 'av01', data });
  for (const silent of ['\xd4hvc1\x02', '\x92hvc1', '\x90hvc1', '\xd0hvc1\0']) {
    assert.equal(tag(silent), null, silent);
  }
  for (const refused of ['\x90vp09\t', '\x96hvc1\t', '\x97hvc1\t']) {
    assert.throws(() => tag(refused), IngestError, refused);
  }
});

test('the AAC header tells rate and channels', () => {
  const { sampleRate, channels, codec } = readAacHeader(audioHeader);
  assert.deepEqual([sampleRate, channels, codec], [44_100, 2, 'mp4a.40.2']);
  for (const bytes of ['', '12', '0000', 'ffff', '1280', '12'.repeat(65)]) {
    assert.throws(() => readAacHeader(Buffer.from(bytes, 'hex')), IngestError, bytes);
  }
});

test('tags tell headers from pictures, and refuse other codecs', () => {
  const tag = readVideoTag(Buffer.of(0x17, 1, 0xff, 0xff, 0xf6, 1, 2));
  assert.deepEqual(tag, {
    codecId: 'avc1',
    isHeader: false,
    isKey: true,
    offsetMs: -10,
    data: Buffer.of(1, 2),
  });
  assert.equal(readVideoTag(Buffer.of(0x17, 2, 0, 0, 0)), null);
  assert.equal(readVideoTag(Buffer.of(0x57, 0, 0)), null);
  assert.equal(readVideoTag(Buffer.of(0x17)), null);
  assert.throws(() => readVideoTag(Buffer.of(0x12, 1, 0, 0, 0, 1)), IngestError);
  assert.deepEqual(readAudioTag(Buffer.of(0xaf, 1, 9)), { isHeader: false, data: Buffer.of(9) });
  assert.throws(() => readAudioTag(Buffer.of(0x2f, 1, 9)), IngestError);
});

test('bits are read behind the end as zeros', () => {
  const reader = new BitReader(Buffer.of(0b1010_0000));
  assert.equal(reader.bits(3), 5);
  assert.equal(reader.isPastEnd, false);
  assert.equal(reader.bits(20), 0);
  assert.equal(reader.isPastEnd, true);
  assert.equal(new BitReader(Buffer.of(0b0010_1000)).unsigned(), 4);
  assert.equal(new BitReader(Buffer.of(0b0010_1000)).signed(), -2);
});
