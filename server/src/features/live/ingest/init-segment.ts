/** The header of a fragmented MP4 with a video track, an AAC track, or both. */
import type { AacHeader } from './aac-header.ts';
import { box, fullBox, uint16, uint32, uint64, zeros } from './boxes.ts';
import type { VideoCodec, VideoHeader } from './video-header.ts';

export const videoTrack = 1;
export const audioTrack = 2;
export const videoTimescale = 90_000;
const movieTimescale = 1_000;

const identityMatrix = Buffer.concat(
  [0x1_0000, 0, 0, 0, 0x1_0000, 0, 0, 0, 0x4000_0000].map(uint32),
);
const noSamples = Buffer.concat([
  fullBox('stts', {}, uint32(0)),
  fullBox('stsc', {}, uint32(0)),
  fullBox('stsz', {}, uint32(0), uint32(0)),
  fullBox('stco', {}, uint32(0)),
]);
const ownData = box('dinf', fullBox('dref', {}, uint32(1), fullBox('url ', { flags: 1 })));

/** At least one of them is not null. */
export type Tracks = { readonly video: VideoHeader | null; readonly audio: AacHeader | null };

/** Whether media with these tracks can continue media with the others. */
export function sameTracks(one: Tracks, other: Tracks): boolean {
  const isEqual = (a: Buffer | undefined, b: Buffer | undefined) =>
    a === undefined || b === undefined ? a === b : a.equals(b);
  return (
    isEqual(one.video?.record, other.video?.record) &&
    isEqual(one.audio?.config, other.audio?.config)
  );
}

/** The samples of a track in an unfragmented file. */
export type SampleTables = {
  /** The boxes of `stbl` after the sample description. */
  readonly tables: Buffer;
  /** The duration of the presented part, in milliseconds and in track units. */
  readonly durationMs: number;
  readonly duration: number;
  /** Start of the presented part, in track units from the first sample. */
  readonly shownFrom: number;
};

/** The `moov` box of an unfragmented file. */
export function movieBox(
  { video, audio }: Tracks,
  tables: { video: SampleTables | null; audio: SampleTables | null },
  durationMs: number,
): Buffer {
  return box(
    'moov',
    movieHeader(durationMs),
    ...(video === null || tables.video === null ? [] : [videoTrak(video, tables.video)]),
    ...(audio === null || tables.audio === null ? [] : [audioTrak(audio, tables.audio)]),
  );
}

export function initSegment({ video, audio }: Tracks): Buffer {
  const brands = Buffer.from('iso6\0\0\0\0iso6mp41dash', 'latin1');
  const traks = [
    ...(video === null ? [] : [videoTrak(video)]),
    ...(audio === null ? [] : [audioTrak(audio)]),
  ];
  const tracks = [...(video === null ? [] : [videoTrack]), ...(audio === null ? [] : [audioTrack])];
  const trexes = tracks.map((track) => fullBox('trex', {}, uint32(track), uint32(1), zeros(12)));
  // The box for fragments comes last, where `withDuration` finds it.
  const moov = box('moov', movieHeader(), ...traks, box('mvex', ...trexes));
  return Buffer.concat([box('ftyp', brands), moov]);
}

/**
 * The header of a complete recording, with its duration, so that players need not read all
 * fragments to determine it.
 */
export function withDuration(init: Buffer, durationMs: number): Buffer {
  const length = fullBox('mehd', { version: 1 }, uint64(durationMs));
  const boxAt = (name: string) => init.lastIndexOf(name, undefined, 'latin1') - 4;
  const inMvex = boxAt('mvex') + 8;
  const longer = Buffer.concat([init.subarray(0, inMvex), length, init.subarray(inMvex)]);
  for (const at of [boxAt('moov'), boxAt('mvex')]) {
    longer.writeUInt32BE(init.readUInt32BE(at) + length.length, at);
  }
  return longer;
}

function movieHeader(durationMs = 0): Buffer {
  const rateAndVolume = Buffer.concat([uint32(0x1_0000), uint16(0x100), zeros(10)]);
  const times = Buffer.concat([zeros(8), uint32(movieTimescale), uint32(durationMs)]);
  const nextTrack = uint32(audioTrack + 1);
  return fullBox('mvhd', {}, times, rateAndVolume, identityMatrix, zeros(24), nextTrack);
}

const configurationBoxes: Record<VideoCodec, string> = { avc1: 'avcC', hvc1: 'hvcC', av01: 'av1C' };

function videoTrak(header: VideoHeader, tables: SampleTables | null = null): Buffer {
  const { codecId, record, width, height } = header;
  const resolution = uint32(0x48_0000);
  const sampleEntry = box(
    codecId,
    zeros(6),
    uint16(1),
    zeros(16),
    uint16(width),
    uint16(height),
    resolution,
    resolution,
    zeros(4),
    uint16(1),
    zeros(32),
    uint16(24),
    uint16(0xffff),
    box(configurationBoxes[codecId], record),
  );
  const graphics = fullBox('vmhd', { flags: 1 }, zeros(8));
  const size = Buffer.concat([uint32(width << 16), uint32(height << 16)]);
  const track = { track: videoTrack, size, volume: 0, timescale: videoTimescale, tables };
  return trak(track, 'vide', [graphics, sampleEntry]);
}

function audioTrak(
  { config, channels, sampleRate }: AacHeader,
  tables: SampleTables | null = null,
): Buffer {
  const sampleEntry = box(
    'mp4a',
    zeros(6),
    uint16(1),
    zeros(8),
    uint16(channels),
    uint16(16),
    zeros(4),
    uint32(Math.min(sampleRate, 0xffff) * 0x1_0000),
    fullBox('esds', {}, elementaryStream(config)),
  );
  const track = { track: audioTrack, size: zeros(8), volume: 0x100, timescale: sampleRate };
  return trak({ ...track, tables }, 'soun', [fullBox('smhd', {}, zeros(4)), sampleEntry]);
}

type TrackHeader = {
  track: number;
  size: Buffer;
  volume: number;
  timescale: number;
  tables: SampleTables | null;
};

function trak(
  { track, size, volume, timescale, tables }: TrackHeader,
  handler: 'vide' | 'soun',
  [mediaHeader, sampleEntry]: readonly [Buffer, Buffer],
): Buffer {
  const isEnabledInMovie = { flags: 3 };
  const placement = Buffer.concat([zeros(12), uint16(volume), zeros(2), identityMatrix, size]);
  const undetermined = Buffer.concat([uint16(0x55c4), zeros(2)]);
  return box(
    'trak',
    fullBox(
      'tkhd',
      isEnabledInMovie,
      zeros(8),
      uint32(track),
      zeros(4),
      uint32(tables?.durationMs ?? 0),
      placement,
    ),
    ...(tables === null ? [] : [editList(tables)]),
    box(
      'mdia',
      fullBox('mdhd', {}, zeros(8), uint32(timescale), uint32(tables?.duration ?? 0), undetermined),
      fullBox('hdlr', {}, zeros(4), Buffer.from(handler), zeros(13)),
      box(
        'minf',
        mediaHeader,
        ownData,
        box('stbl', fullBox('stsd', {}, uint32(1), sampleEntry), tables?.tables ?? noSamples),
      ),
    ),
  );
}

/** Presents a track from a given time on; earlier samples are only decoded. */
function editList({ durationMs, shownFrom }: SampleTables): Buffer {
  const entry = Buffer.concat([uint32(durationMs), uint32(shownFrom), uint32(0x1_0000)]);
  return box('edts', fullBox('elst', {}, uint32(1), entry));
}

/** The descriptors of an AAC stream (ISO/IEC 14496-1, 7.2.6). */
function elementaryStream(config: Buffer): Buffer {
  const descriptor = (tag: number, ...parts: readonly Buffer[]) => {
    const content = Buffer.concat(parts);
    return Buffer.concat([Buffer.of(tag, content.length), content]);
  };
  const aac = 0x40;
  const audioStream = 0x15;
  const decoder = descriptor(4, Buffer.of(aac, audioStream), zeros(11), descriptor(5, config));
  return descriptor(3, uint16(audioTrack), zeros(1), decoder, descriptor(6, Buffer.of(2)));
}
