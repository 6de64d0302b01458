/** One segment of a broadcast: a fragment of MP4 with the samples of each track. */
import { box, fullBox, uint32, uint64 } from './boxes.ts';
import { audioTrack, videoTrack } from './init-segment.ts';

/** One picture or one frame of sound; times are in units of its track. */
export type MediaSample = {
  readonly data: Buffer;
  readonly duration: number;
  readonly isKey: boolean;
  /** How much later it is shown than decoded. */
  readonly offset: number;
};

export type TrackRun = { readonly start: number; readonly samples: readonly MediaSample[] };

const keyFlags = 0x0200_0000;
const otherFlags = 0x0101_0000;
/** Offsets within a fragment count from its beginning. */
const baseIsFragment = 0x2_0000;
/** Present: data offset, and of each sample duration, size, flags and composition offset. */
const runFields = 0xf01;

export type TrackRuns = { readonly video: TrackRun | null; readonly audio: TrackRun | null };

/** @param number counts the fragments of a file from 1 */
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
