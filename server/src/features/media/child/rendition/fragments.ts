/**
 * Reads the index of fragmented MP4 (ISO/IEC 14496-12) as a player does: the start and duration of
 * each fragment, and whether its data is present. Media data itself is not read.
 */
import { open, type FileHandle } from 'node:fs/promises';

export type FragmentTrack = {
  readonly kind: 'video' | 'audio';
  readonly ticksPerSecond: number;
  /** Presentation start in the edit list; anything before it is reordering delay or priming. */
  readonly editTicks: number;
};

/** The samples of one track in one segment, in seconds of the track's clock. */
export type FragmentRun = {
  /** In decoding order. */
  startSeconds: number;
  endSeconds: number;
  /** Presentation time of the first sample in presentation order. */
  shownSeconds: number;
  samples: number;
  startsWithKey: boolean;
};

const BOX_HEADER_BYTES = 8;
const LONG_BOX_HEADER_BYTES = 16;
const IS_NOT_SYNC = 0x10000;

type Box = { type: string; body: Buffer };

function* boxes(bytes: Buffer): Generator<Box> {
  for (let at = 0; at + BOX_HEADER_BYTES <= bytes.length;) {
    const size = bytes.readUInt32BE(at);
    if (size < BOX_HEADER_BYTES || at + size > bytes.length) throw new Error('a box is cut off');
    const body = bytes.subarray(at + BOX_HEADER_BYTES, at + size);
    yield { type: bytes.toString('latin1', at + 4, at + 8), body };
    at += size;
  }
}

function child(bytes: Buffer, ...path: string[]): Buffer {
  let found = bytes;
  for (const type of path) {
    const box = [...boxes(found)].find((one) => one.type === type);
    if (box === undefined) throw new Error(`there is no box ${type}`);
    found = box.body;
  }
  return found;
}

/** Media time of the track's single edit, in ticks. */
function editTicks(track: Buffer): number {
  const edits = [...boxes(track)].find(({ type }) => type === 'edts');
  if (edits === undefined) return 0;
  const list = new Fields(child(edits.body, 'elst'));
  if (list.u32() === 0) return 0;
  if (list.version === 1) list.u64();
  else list.u32();
  return Math.max(0, list.version === 1 ? list.u64() : list.i32());
}

export function readTracks(init: Buffer): Map<number, FragmentTrack> {
  const tracks = new Map<number, FragmentTrack>();
  for (const { type, body } of boxes(child(init, 'moov'))) {
    if (type !== 'trak') continue;
    const header = child(body, 'tkhd');
    const mediaHeader = child(body, 'mdia', 'mdhd');
    const handler = child(body, 'mdia', 'hdlr').toString('latin1', 8, 12);
    tracks.set(header.readUInt32BE(header[0] === 1 ? 20 : 12), {
      kind: handler === 'vide' ? 'video' : 'audio',
      ticksPerSecond: mediaHeader.readUInt32BE(mediaHeader[0] === 1 ? 20 : 12),
      editTicks: editTicks(body),
    });
  }
  return tracks;
}

/** Reads the fields of a full box in sequence. */
class Fields {
  readonly #bytes: Buffer;
  #at = 4;
  readonly flags: number;
  readonly version: number;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.version = bytes.readUInt8(0);
    this.flags = bytes.readUIntBE(1, 3);
  }

  u32(): number {
    this.#at += 4;
    return this.#bytes.readUInt32BE(this.#at - 4);
  }

  i32(): number {
    this.#at += 4;
    return this.#bytes.readInt32BE(this.#at - 4);
  }

  u64(): number {
    this.#at += 8;
    return Number(this.#bytes.readBigUInt64BE(this.#at - 8));
  }

  /** Reads a field that is present only if the flag is set. */
  optional(flag: number): number | null {
    return (this.flags & flag) === 0 ? null : this.u32();
  }
}

/** Adds the samples of a `traf` box to its segment's runs. Returns their size in bytes. */
function readFragment(
  traf: Buffer,
  tracks: ReadonlyMap<number, FragmentTrack>,
  runs: Map<'video' | 'audio', FragmentRun>,
): number {
  const header = new Fields(child(traf, 'tfhd'));
  const track = tracks.get(header.u32());
  if (track === undefined) throw new Error('a fragment belongs to no track');
  if ((header.flags & 1) !== 0) header.u64();
  header.optional(0x2);
  const duration = header.optional(0x8);
  const size = header.optional(0x10);
  const flags = header.optional(0x20);
  const decodeTime = new Fields(child(traf, 'tfdt'));
  let time = decodeTime.version === 1 ? decodeTime.u64() : decodeTime.u32();
  let bytes = 0;
  const seconds = (ticks: number): number => ticks / track.ticksPerSecond;
  for (const { type, body } of boxes(traf)) {
    if (type !== 'trun') continue;
    const run = new Fields(body);
    const count = run.u32();
    run.optional(0x1);
    let firstFlags = run.optional(0x4);
    for (let index = 0; index < count; index += 1) {
      const length = run.optional(0x100) ?? duration ?? 0;
      bytes += run.optional(0x200) ?? size ?? 0;
      const sampleFlags = run.optional(0x400) ?? firstFlags ?? flags ?? 0;
      firstFlags = null;
      const offset = (run.flags & 0x800) === 0 ? 0 : run.i32();
      const known = runs.get(track.kind) ?? {
        startSeconds: seconds(time),
        endSeconds: seconds(time),
        shownSeconds: Infinity,
        samples: 0,
        startsWithKey: (sampleFlags & IS_NOT_SYNC) === 0,
      };
      runs.set(track.kind, known);
      const gap = seconds(time) - known.endSeconds;
      if (Math.abs(gap) > 0.001)
        throw new Error(`the ${track.kind} jumps by ${gap} s in a segment`);
      time += length;
      known.endSeconds = seconds(time);
      known.shownSeconds = Math.min(
        known.shownSeconds,
        seconds(time - length + offset - track.editTicks),
      );
      known.samples += 1;
    }
  }
  return bytes;
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position);
  return buffer.subarray(0, bytesRead);
}

/**
 * The runs of each track in a media segment.
 * @throws {Error} if boxes or samples are missing or inconsistent
 */
export async function readSegment(
  path: string,
  tracks: ReadonlyMap<number, FragmentTrack>,
): Promise<Map<'video' | 'audio', FragmentRun>> {
  await using file = await open(path, 'r');
  const { size } = await file.stat();
  const runs = new Map<'video' | 'audio', FragmentRun>();
  let announced = 0;
  for (let at = 0; at < size;) {
    const header = await readAt(file, at, LONG_BOX_HEADER_BYTES);
    const short = header.readUInt32BE(0);
    const length = short === 1 ? Number(header.readBigUInt64BE(8)) : short;
    if (length < BOX_HEADER_BYTES || at + length > size) throw new Error('a segment is cut off');
    const type = header.toString('latin1', 4, 8);
    if (type === 'moof') {
      const moof = await readAt(file, at + BOX_HEADER_BYTES, length - BOX_HEADER_BYTES);
      for (const box of boxes(moof)) {
        if (box.type === 'traf') announced += readFragment(box.body, tracks, runs);
      }
    } else if (type === 'mdat') {
      announced -= length - (short === 1 ? LONG_BOX_HEADER_BYTES : BOX_HEADER_BYTES);
      if (announced !== 0) throw new Error(`${announced} bytes of samples are missing`);
    }
    at += length;
  }
  return runs;
}
