/** A segment of a broadcast: an MP4 fragment with the samples of each track. */
import { box, fullBox, uint32, uint64 } from './boxes.ts';
import { audioTrack, videoTrack } from './init-segment.ts';

/** One picture or one audio frame. Times are in track units. */
export type MediaSample = {
  readonly data: Buffer;
  readonly duration: number;
  readonly isKey: boolean;
  /** Composition offset: presentation time minus decoding time. */
  readonly offset: number;
};

export type TrackRun = { readonly start: number; readonly samples: readonly MediaSample[] };

const keyFlags = 0x0200_0000;
const otherFlags = 0x0101_0000;
/** Flag: offsets are relative to the start of the fragment. */
const baseIsFragment = 0x2_0000;
/**
 * Flags: the data offset is present, and for each sample its duration, size, flags and composition
 * offset.
 */
const runFields = 0xf01;

export type TrackRuns = { readonly video: TrackRun | null; readonly audio: TrackRun | null };

/** @param number number of the fragment in its file, starting at 1 */
export function mediaSegment(number: number, { video, audio }: TrackRuns): Buffer {
  const runs: { track: number; run: TrackRun }[] = [];
  if (video !== null && video.samples.length > 0) runs.push({ track: videoTrack, run: video });
  if (audio !== null && audio.samples.length > 0) runs.push({ track: audioTrack, run: audio });
  const sizes = runs.map(({ run }) => run.samples.reduce((sum, { data }) => sum + data.length, 0));
  const fragment = (headBytes: number) => {
    let offset = headBytes + 8;
    const trafs = runs.map(({ track, run }, index) => {
      const made = traf(track, run, offset);
      offset += sizes[index] ?? 0;
      return made;
    });
    return box('moof', fullBox('mfhd', {}, uint32(number)), ...trafs);
  };
  const moof = fragment(fragment(0).length);
  return Buffer.concat([moof, box('mdat', ...runs.flatMap(({ run }) => run.samples.map(dataOf)))]);
}

function dataOf({ data }: MediaSample): Buffer {
  return data;
}

function traf(track: number, { start, samples }: TrackRun, dataOffset: number): Buffer {
  const table = Buffer.alloc(samples.length * 16);
  for (const [index, { data, duration, isKey, offset }] of samples.entries()) {
    const at = index * 16;
    table.writeUInt32BE(duration, at);
    table.writeUInt32BE(data.length, at + 4);
    table.writeUInt32BE(isKey ? keyFlags : otherFlags, at + 8);
    table.writeInt32BE(offset, at + 12);
  }
  const trun = { version: 1, flags: runFields };
  return box(
    'traf',
    fullBox('tfhd', { flags: baseIsFragment }, uint32(track)),
    fullBox('tfdt', { version: 1 }, uint64(start)),
    fullBox('trun', trun, uint32(samples.length), uint32(dataOffset), table),
  );
}
