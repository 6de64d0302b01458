/**
 * A clip of a broadcast as an MP4 file. It starts with the key frame before the requested time,
 * which its edit list skips, so that a clip is exact without re-encoding.
 */
import { box, fullBox, uint32, uint64 } from '../ingest/boxes.ts';
import {
  movieBox,
  videoTimescale,
  type SampleTables,
  type Tracks,
} from '../ingest/init-segment.ts';
import type { PlacedSample, SegmentSamples } from './segment-samples.ts';

type Span = { readonly startMs: number; readonly endMs: number };

export type ClipPart<Source> = { readonly source: Source; readonly samples: SegmentSamples };

const trackNames = ['video', 'audio'] as const;
const mdatHeaderBytes = 16;
/** AAC decoders need the frame before the first audible one. */
const primingFrames = 1;

/** Selects the samples of consecutive segments that a clip needs. */
export function chooseSamples<Source>(
  parts: readonly ClipPart<Source>[],
  { startMs, endMs }: Span,
  sampleRate: number | null,
): ClipPart<Source>[] {
  const unitsOf = (ms: number) => ms * (videoTimescale / 1_000);
  const pictures = parts.flatMap(({ samples }) => samples.video);
  const isShown = ({ at, offset }: PlacedSample) => at + offset <= unitsOf(startMs);
  const first = pictures.findLast((picture) => picture.isKey && isShown(picture)) ?? pictures[0];
  const soundUnits = (ms: number) => (ms * (sampleRate ?? 0)) / 1_000;
  return parts.map(({ source, samples: { video, audio } }) => ({
    source,
    samples: {
      video: video.filter(({ at }) => at >= (first?.at ?? 0) && at < unitsOf(endMs)),
      audio: audio.filter(
        ({ at, duration }) =>
          at + duration * (1 + primingFrames) > soundUnits(startMs) && at < soundUnits(endMs),
      ),
    },
  }));
}

/** The header of a clip's file; the samples follow it segment by segment. */
export function clipHeader(
  tracks: Tracks,
  parts: readonly ClipPart<unknown>[],
  { startMs, endMs }: Span,
): Buffer {
  const lists = {
    video: parts.map(({ samples }) => samples.video),
    audio: parts.map(({ samples }) => samples.audio),
  };
  const scales = { video: videoTimescale, audio: tracks.audio?.sampleRate ?? 1 };
  const ftyp = box('ftyp', Buffer.from('isom\0\0\u0002\0isomiso2avc1mp41', 'latin1'));
  const moov = (dataAt: number) => {
    const positions = chunkPositions(lists, dataAt);
    const tables = (name: (typeof trackNames)[number]) =>
      sampleTables(lists[name], positions[name], {
        isVideo: name === 'video',
        scale: scales[name],
        startMs,
        endMs,
      });
    return movieBox(tracks, { video: tables('video'), audio: tables('audio') }, endMs - startMs);
  };
  const dataAt = ftyp.length + moov(0).length + mdatHeaderBytes;
  const dataBytes = trackNames
    .flatMap((name) => lists[name].flat())
    .reduce((sum, { size }) => sum + size, 0);
  const mdat = Buffer.concat([uint32(1), Buffer.from('mdat'), uint64(mdatHeaderBytes + dataBytes)]);
  return Buffer.concat([ftyp, moov(dataAt), mdat]);
}

type Lists = Record<(typeof trackNames)[number], readonly (readonly PlacedSample[])[]>;

/** Offsets of each segment's samples in the file: video first, then audio. */
function chunkPositions(lists: Lists, dataAt: number) {
  const positions: Record<(typeof trackNames)[number], number[]> = { video: [], audio: [] };
  let at = dataAt;
  for (const index of lists.video.keys()) {
    for (const name of trackNames) {
      positions[name].push(at);
      for (const { size } of lists[name][index] ?? []) at += size;
    }
  }
  return positions;
}

type Shown = Span & { isVideo: boolean; scale: number };

function sampleTables(
  chunks: readonly (readonly PlacedSample[])[],
  positions: readonly number[],
  { isVideo, scale, startMs, endMs }: Shown,
): SampleTables | null {
  const samples = chunks.flat();
  const [first] = samples;
  if (first === undefined) return null;
  const filled = chunks
    .map((chunk, index) => ({ count: chunk.length, position: positions[index] ?? 0 }))
    .filter(({ count }) => count > 0);
  // A gap, such as between two publishers, extends the previous sample.
  const durations = samples.map(({ at, duration }, index) =>
    Math.max(0, (samples[index + 1]?.at ?? at + duration) - at),
  );
  const keys = samples.flatMap(({ isKey }, index) => (isKey ? [index + 1] : []));
  const tables = Buffer.concat([
    fullBox('stts', {}, runs(durations)),
    ...(isVideo
      ? [fullBox('ctts', { version: 1 }, runs(samples.map(({ offset }) => offset)))]
      : []),
    fullBox('stsc', {}, chunkRuns(filled.map(({ count }) => count))),
    fullBox('stsz', {}, uint32(0), listOf(samples.map(({ size }) => size))),
    fullBox('co64', {}, uint32(filled.length), ...filled.map(({ position }) => uint64(position))),
    ...(isVideo ? [fullBox('stss', {}, listOf(keys))] : []),
  ]);
  const shownFrom = Math.max(0, Math.round((startMs * scale) / 1_000) - first.at);
  const duration = durations.reduce((sum, one) => sum + one, 0);
  return { tables, duration, durationMs: endMs - startMs, shownFrom };
}

function listOf(values: readonly number[]): Buffer {
  return Buffer.concat([uint32(values.length), ...values.map(uint32)]);
}

function runs(values: readonly number[]): Buffer {
  const found: { count: number; value: number }[] = [];
  for (const value of values) {
    const last = found.at(-1);
    if (last?.value === value) last.count += 1;
    else found.push({ count: 1, value });
  }
  const entries = found.flatMap(({ count, value }) => [uint32(count), uint32(value)]);
  return Buffer.concat([uint32(found.length), ...entries]);
}

/** Run-length encodes the number of samples per chunk. */
function chunkRuns(counts: readonly number[]): Buffer {
  const firsts = counts.flatMap((count, index) =>
    count === counts[index - 1] ? [] : [{ chunk: index + 1, count }],
  );
  const entries = firsts.flatMap(({ chunk, count }) => [uint32(chunk), uint32(count), uint32(1)]);
  return Buffer.concat([uint32(firsts.length), ...entries]);
}
