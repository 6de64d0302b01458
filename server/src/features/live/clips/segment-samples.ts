/** Reads the segments that `media-segment.ts` writes: a fragment with a run of samples for each track. */
import { audioTrack, videoTrack } from '../ingest/init-segment.ts';

/** A sample, whose bytes stay in its segment. Times are in units of its track. */
export type PlacedSample = {
  readonly at: number;
  readonly duration: number;
  readonly offset: number;
  readonly isKey: boolean;
  /** Of its bytes, from the beginning of the segment on. */
  readonly position: number;
  readonly size: number;
};

export type SegmentSamples = { readonly video: PlacedSample[]; readonly audio: PlacedSample[] };

const entryBytes = 16;
const notKey = 0x1_0000;

/** @throws RangeError for bytes that are no segment of ours */
export function readSamples(segment: Buffer): SegmentSamples {
  const samples: SegmentSamples = { video: [], audio: [] };
  const [moof] = boxes(segment, 0, segment.length);
  if (moof?.name !== 'moof') throw new RangeError('The segment does not begin with a fragment.');
  for (const traf of boxes(segment, moof.from, moof.to)) {
    if (traf.name !== 'traf') continue;
    const inside = new Map(boxes(segment, traf.from, traf.to).map((box) => [box.name, box.from]));
    const [tfhd, tfdt, trun] = [inside.get('tfhd'), inside.get('tfdt'), inside.get('trun')];
    if (tfhd === undefined || tfdt === undefined || trun === undefined) continue;
    const track = segment.readUInt32BE(tfhd + 4);
    const run = readRun(segment, trun, Number(segment.readBigUInt64BE(tfdt + 4)));
    if (track === videoTrack) samples.video.push(...run);
    if (track === audioTrack) samples.audio.push(...run);
  }
  return samples;
}

function readRun(segment: Buffer, trun: number, start: number): PlacedSample[] {
  let [at, position] = [start, segment.readUInt32BE(trun + 8)];
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
    if (size < 8 || at + size > to) throw new RangeError('A box ends too late.');
    found.push({ name: bytes.toString('latin1', at + 4, at + 8), from: at + 8, to: at + size });
    at += size;
  }
  return found;
}
