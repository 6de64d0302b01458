/**
 * Reads segments written by `media-segment.ts`: fragments with a run of samples per track. A
 * low-latency segment has one fragment per part.
 */
import { audioTrack, videoTrack } from '../ingest/init-segment.ts';

/** A sample, whose bytes stay in its segment. Times are in the track's timescale. */
export type PlacedSample = {
  readonly at: number;
  readonly duration: number;
  readonly offset: number;
  readonly isKey: boolean;
  /** Offset of its bytes in the segment. */
  readonly position: number;
  readonly size: number;
};

export type SegmentSamples = { readonly video: PlacedSample[]; readonly audio: PlacedSample[] };

const entryBytes = 16;
const notKey = 0x1_0000;

/** @throws {RangeError} if the bytes are not one of our segments */
export function readSamples(segment: Buffer): SegmentSamples {
  const samples: SegmentSamples = { video: [], audio: [] };
  const outer = boxes(segment, 0, segment.length);
  if (outer[0]?.name !== 'moof') {
    throw new RangeError('The segment does not start with a fragment.');
  }
  for (const moof of outer.filter(({ name }) => name === 'moof')) readFragment(moof);
  return samples;

  function readFragment(moof: { from: number; to: number }): void {
    for (const traf of boxes(segment, moof.from, moof.to)) {
      if (traf.name === 'traf') readTrack(traf, moof.from - 8);
    }
  }

  function readTrack(traf: { from: number; to: number }, fragmentAt: number): void {
    const inside = new Map(boxes(segment, traf.from, traf.to).map((box) => [box.name, box.from]));
    const [tfhd, tfdt, trun] = [inside.get('tfhd'), inside.get('tfdt'), inside.get('trun')];
    if (tfhd === undefined || tfdt === undefined || trun === undefined) return;
    const track = segment.readUInt32BE(tfhd + 4);
    const start = Number(segment.readBigUInt64BE(tfdt + 4));
    const run = readRun(segment, trun, { start, fragmentAt });
    if (track === videoTrack) samples.video.push(...run);
    if (track === audioTrack) samples.audio.push(...run);
  }
}

/**
 * @param place start time of the run, and the offset of its fragment, to which its data offsets are
 *   relative
 */
function readRun(
  segment: Buffer,
  trun: number,
  place: { start: number; fragmentAt: number },
): PlacedSample[] {
  let [at, position] = [place.start, place.fragmentAt + segment.readUInt32BE(trun + 8)];
  return Array.from({ length: segment.readUInt32BE(trun + 4) }, (_, index) => {
    const entry = trun + 12 + index * entryBytes;
    const duration = segment.readUInt32BE(entry);
    const size = segment.readUInt32BE(entry + 4);
    const isKey = (segment.readUInt32BE(entry + 8) & notKey) === 0;
    const offset = segment.readInt32BE(entry + 12);
    const sample = { at, duration, offset, isKey, position, size };
    at += duration;
    position += size;
    return sample;
  });
}

function boxes(bytes: Buffer, from: number, to: number) {
  const found: { name: string; from: number; to: number }[] = [];
  for (let at = from; at + 8 <= to;) {
    const size = bytes.readUInt32BE(at);
    if (size < 8 || at + size > to)
      throw new RangeError('A box extends beyond the end of its parent.');
    found.push({ name: bytes.toString('latin1', at + 4, at + 8), from: at + 8, to: at + size });
    at += size;
  }
  return found;
}
