/**
 * The parsers of untrusted bytes, each with the only error that it may throw, and seed inputs.
 * `fuzz-corpus.json` contains more inputs, which exercised rare paths of a parser.
 */
import { readFileSync } from 'node:fs';
import { readAacHeader } from '../../src/features/live/ingest/aac-header.ts';
import { readAudioTag, readVideoTag } from '../../src/features/live/ingest/flv-tags.ts';
import { audioHeader, av1Header, h265Header, videoHeader } from './headers.ts';
import { IngestError } from '../../src/features/live/ingest/ingest-error.ts';
import { initSegment } from '../../src/features/live/ingest/init-segment.ts';
import { Segmenter } from '../../src/features/live/ingest/segmenter.ts';
import { inStreamHeader, readVideoHeader } from '../../src/features/live/ingest/video-header.ts';
import { decodeAmf, encodeAmf } from '../../src/features/live/rtmp/amf0.ts';
import { ChunkReader } from '../../src/features/live/rtmp/chunk-reader.ts';
import { ChunkWriter } from '../../src/features/live/rtmp/chunk-writer.ts';
import { messageType } from '../../src/features/live/rtmp/messages.ts';
import { RtmpError } from '../../src/features/live/rtmp/rtmp-error.ts';
import { FlvReader } from '../../src/features/live/srt/flv-reader.ts';
import { readHandshake, streamKeyOfId } from '../../src/features/live/srt/handshake.ts';
import {
  controlPacket,
  controlType,
  lossList,
  readPacket,
} from '../../src/features/live/srt/packets.ts';
import { conclusionOf, inductionOf } from './srt.ts';
import { SrtReceiver } from '../../src/features/live/srt/srt-receiver.ts';

export type Parser = {
  readonly name: string;
  readonly seeds: readonly Buffer[];
  readonly run: (bytes: Buffer) => void;
  readonly isExpected: (error: unknown) => boolean;
};

const isRtmpError = (error: unknown) => error instanceof RtmpError;
const isIngestError = (error: unknown) => error instanceof IngestError;

function chunkSeeds(): Buffer[] {
  const writer = new ChunkWriter();
  const message = { type: messageType.command, streamId: 0, timestamp: 40 };
  const connect = encodeAmf('connect', 1, { app: 'live', tcUrl: 'rtmp://127.0.0.1/live' });
  return [
    writer.write(3, { ...message, payload: connect }),
    writer.write(4, { ...message, type: messageType.video, payload: Buffer.alloc(400, 3) }),
    Buffer.of(0x02, 0, 0, 0, 0, 0, 4, messageType.setChunkSize, 0, 0, 0, 0, 0, 0, 16, 0),
    Buffer.of(0x02, 0, 0, 0, 0, 0, 4, messageType.abort, 0, 0, 0, 0, 0, 0, 0, 4),
    Buffer.of(0x04, 255, 255, 255, 0, 0, 1, messageType.audio, 1, 0, 0, 0, 0, 0, 1, 0, 9),
  ];
}

/** A media message: type, time and payload. */
function segmenterSeeds(): Buffer[] {
  const start = (type: number, at: number) => Buffer.of(type, at >> 8, at & 255);
  const header = Buffer.concat([start(9, 0), Buffer.of(0x17, 0, 0, 0, 0), videoHeader(64, 64)]);
  const picture = Buffer.concat([start(9, 40), Buffer.of(0x17, 1, 0, 0, 0, 1, 2, 3)]);
  const sound = Buffer.concat([start(8, 0), Buffer.of(0xaf, 0), audioHeader]);
  return [header, picture, sound, Buffer.concat([start(8, 60), Buffer.of(0xaf, 1, 5, 6)])];
}

/** A segmenter receives many inputs, like those of one connection, and is replaced now and then. */
function segmenterRun(): (bytes: Buffer) => void {
  let [segmenter, taken] = [newSegmenter(), 0];
  return (bytes) => {
    taken += 1;
    if (taken % 500 === 0) segmenter = newSegmenter();
    if (bytes.length < 3) return;
    const message = { type: bytes[0] ?? 0, streamId: 1, timestamp: bytes.readUInt16BE(1) };
    for (const segment of segmenter.take({ ...message, payload: bytes.subarray(3) })) {
      initSegment(segment.tracks);
    }
  };
}

function newSegmenter(): Segmenter {
  const start = { baseMs: 0, number: 1, maxLengthMs: null, firstRecord: null, hasFormats: false };
  const segmenter = new Segmenter(start);
  for (const bytes of segmenterSeeds()) {
    const message = { type: bytes[0] ?? 0, streamId: 1, timestamp: bytes.readUInt16BE(1) };
    segmenter.take({ ...message, payload: bytes.subarray(3) });
  }
  return segmenter;
}

function srtSeeds(): Buffer[] {
  const body = lossList([{ first: 3, last: 9 }]);
  const dropped = { control: controlType.dropRequest, body, target: 1, atMs: 0 };
  const data = Buffer.concat([Buffer.of(0, 0, 0, 3), Buffer.alloc(12, 1), Buffer.alloc(188, 0x47)]);
  const conclusion = conclusionOf({ streamId: '#!::r=rf_live_key,m=publish', latencyMs: 200 });
  return [inductionOf(7), conclusion, controlPacket(dropped), data];
}

/** One receiver gets many datagrams, and passes on what is ready. */
function srtRun(): (bytes: Buffer) => void {
  const options = { firstSequence: 0, latencyMs: 100, target: 1, send: () => undefined };
  let [receiver, nowMs] = [new SrtReceiver(options), 0];
  return (bytes) => {
    nowMs += 5;
    if (nowMs % 2_500 === 0) receiver = new SrtReceiver(options);
    const packet = readPacket(bytes);
    if (packet === null) return;
    if (packet.type === 'control') {
      const handshake = readHandshake(packet.body);
      if (handshake !== null) streamKeyOfId(handshake.streamId);
    }
    receiver.receive(packet, nowMs);
    void [...receiver.ready(nowMs)];
    receiver.report(nowMs);
  };
}

function flvSeed(): Buffer {
  const tag = Buffer.concat([Buffer.of(9, 0, 0, 5, 0, 0, 40, 0, 0, 0, 0), Buffer.alloc(9, 1)]);
  return Buffer.concat([Buffer.from('FLV\x01\x05\0\0\0\x09\0\0\0\0', 'latin1'), tag, tag]);
}

const withoutCorpus: readonly Parser[] = [
  {
    name: 'chunks',
    seeds: chunkSeeds(),
    run: (bytes) => void [...new ChunkReader().read(bytes)],
    isExpected: isRtmpError,
  },
  {
    name: 'amf0',
    seeds: [
      encodeAmf('connect', 1, { app: 'live', deep: { number: 5, yes: true, none: null } }),
      encodeAmf('publish', 3, null, 'rf_live_key', 'live'),
      Buffer.of(8, 0, 0, 0, 1, 0, 1, 0x61, 1, 1, 0, 0, 9),
      Buffer.of(10, 0, 0, 0, 2, 5, 11, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
    ],
    run: (bytes) => void decodeAmf(bytes),
    isExpected: isRtmpError,
  },
  {
    name: 'video tags',
    seeds: [
      Buffer.of(0x17, 0, 0, 0, 0, 1),
      Buffer.of(0x27, 1, 0, 0, 40, 9),
      Buffer.from('\x90hvc1\x01', 'latin1'),
      Buffer.from('\xa1hvc1\0\0\x28\x09', 'latin1'),
      Buffer.from('\x93av01\x09', 'latin1'),
    ],
    run: (bytes) => void readVideoTag(bytes),
    isExpected: isIngestError,
  },
  {
    name: 'audio tags',
    seeds: [Buffer.of(0xaf, 0, 0x12, 0x10), Buffer.of(0xaf, 1, 9)],
    run: (bytes) => void readAudioTag(bytes),
    isExpected: isIngestError,
  },
  {
    name: 'H.264 headers',
    seeds: [videoHeader(1920, 1080), videoHeader(64, 64)],
    run: (bytes) => void readVideoHeader('avc1', bytes),
    isExpected: isIngestError,
  },
  {
    name: 'HEVC headers',
    seeds: [h265Header],
    run: (bytes) => void inStreamHeader(readVideoHeader('hvc1', bytes)),
    isExpected: isIngestError,
  },
  {
    name: 'AV1 headers',
    seeds: [av1Header],
    run: (bytes) => void inStreamHeader(readVideoHeader('av01', bytes)),
    isExpected: isIngestError,
  },
  {
    name: 'AAC headers',
    seeds: [audioHeader, Buffer.of(0x13, 0x90, 0x56, 0xe5)],
    run: (bytes) => void readAacHeader(bytes),
    isExpected: isIngestError,
  },
  {
    name: 'SRT datagrams',
    seeds: srtSeeds(),
    run: srtRun(),
    isExpected: () => false,
  },
  {
    name: 'FLV',
    seeds: [flvSeed()],
    run: (bytes) => void [...new FlvReader().read(bytes)],
    isExpected: isRtmpError,
  },
  {
    name: 'segments',
    seeds: segmenterSeeds(),
    run: segmenterRun(),
    isExpected: isIngestError,
  },
];

const corpus = JSON.parse(
  readFileSync(new URL('../../src/features/live/fuzz-corpus.json', import.meta.url), 'utf8'),
) as Record<string, string[]>;

export const parsers: readonly Parser[] = withoutCorpus.map((parser) => ({
  ...parser,
  seeds: [...parser.seeds, ...(corpus[parser.name] ?? []).map((hex) => Buffer.from(hex, 'hex'))],
}));

/** Reproducible random integers from 0 to below 2^32 (xorshift, Marsaglia 2003). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state >>>= 0;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state;
  };
}

const edges = [0, 1, 2, 3, 127, 128, 254, 255];

/** One of the seeds with some bytes changed, removed, repeated or moved. */
export function mutate(seeds: readonly Buffer[], random: () => number): Buffer {
  const pick = (below: number) => random() % Math.max(1, below);
  let bytes = Buffer.from(seeds[pick(seeds.length)] ?? Buffer.alloc(0));
  for (let left = 1 + pick(4); left > 0; left -= 1) {
    const at = pick(bytes.length);
    const kind = pick(6);
    if (kind === 0) bytes[at] = random() & 255;
    else if (kind === 1) bytes[at] = edges[pick(edges.length)] ?? 0;
    else if (kind === 2) bytes[at] = (bytes[at] ?? 0) ^ (1 << pick(8));
    else if (kind === 3) bytes = bytes.subarray(0, at);
    else if (kind === 4) bytes = Buffer.concat([bytes.subarray(at), bytes.subarray(0, at)]);
    else bytes = Buffer.concat([bytes, seeds[pick(seeds.length)] ?? bytes]);
  }
  return bytes;
}

/**
 * Feeds mutated inputs to a parser.
 * @throws {Error} containing the input if the parser throws anything but its own error
 */
export function fuzz({ name, seeds, run, isExpected }: Parser, count: number, seed: number): void {
  const random = randomFrom(seed);
  for (let done = 0; done < count; done += 1) {
    const bytes = mutate(seeds, random);
    try {
      run(bytes);
    } catch (error) {
      if (isExpected(error)) continue;
      throw new Error(`${name}: ${bytes.toString('hex')}`, { cause: error });
    }
  }
}
