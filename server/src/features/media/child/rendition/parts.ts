import { AVSEEK_FLAG_BACKWARD, AV_NOPTS_VALUE } from 'node-av/constants';
import type { Rung } from '../../ladder.ts';
import { readPackets } from '../source/decoding.ts';
import { openTrack, type OpenTrack } from '../source/open-track.ts';
import { planSegments } from './segment-plan.ts';
import type { Source } from '../source/source.ts';

/**
 * A long video is split into parts that are encoded in parallel. Parts start at segment boundaries,
 * and each part decodes the pictures around its own boundaries, so the joined result equals that of
 * a single run.
 */
export type VideoPart = {
  readonly index: number;
  readonly startFrame: number;
  /** Number of the next part's first picture, or null for the last part. */
  readonly endFrame: number | null;
  /** Position at which to start reading the source, in seconds from its start. */
  readonly seekSeconds: number;
};

/** Shorter videos lose more to overhead than they gain. */
const MIN_SECONDS = 60;
/** Audio of a longer source, which waits for the parts, would take too much memory. */
const MAX_SECONDS = 3 * 3_600;
/** Each part holds decoded pictures; two parts of a larger format would take too much memory. */
const MAX_PIXELS = 9_000_000;
/** Short enough to hold the encoded pictures of a few parts in memory. */
const PART_SECONDS = 20;
/**
 * Maximum distance before a part at which reading may start. With key frames further apart, parts
 * would decode more than they encode.
 */
const SEEK_LEADS_SECONDS = [1, 4, 12] as const;
/** Containers with an index and timestamps that never restart. */
const SEEKABLE: ReadonlySet<string> = new Set(['mov', 'matroska']);
const MICROSECONDS = 1_000_000;

/** Seeks to a key frame at or before a time, relative to the start of the source. */
export async function seek({ source, stream }: OpenTrack, seconds: number): Promise<boolean> {
  const { num, den } = stream.stream.timeBase;
  const start = Number(source.startMicroseconds) / MICROSECONDS;
  const ticks = BigInt(Math.floor(((start + Math.max(0, seconds)) * den) / num));
  const { index } = stream.stream;
  return (await source.container.seekFrame(index, ticks, AVSEEK_FLAG_BACKWARD)) >= 0;
}

/** Presentation time of the picture in the next packet, or null if unknown. */
async function nextSeconds(pictures: OpenTrack): Promise<number | null> {
  for await (const packet of readPackets(pictures.source.container)) {
    const { isKeyframe, pts, streamIndex } = packet;
    packet.free();
    if (streamIndex !== pictures.stream.stream.index) continue;
    if (!isKeyframe || pts === AV_NOPTS_VALUE) return null;
    const { num, den } = pictures.stream.stream.timeBase;
    return (Number(pts) * num) / den - Number(pictures.source.startMicroseconds) / MICROSECONDS;
  }
  return null;
}

/**
 * Returns the position at which to start reading so that the picture shown at `seconds` is decoded.
 * Indexes are in decoding order, so the key frame found by a seek may be presented later than
 * requested.
 */
async function findSeek(pictures: OpenTrack, seconds: number): Promise<number | null> {
  for (const lead of SEEK_LEADS_SECONDS) {
    const target = seconds - lead;
    if (!(await seek(pictures, target))) return null;
    const found = await nextSeconds(pictures);
    const isNear = found !== null && found >= seconds - (SEEK_LEADS_SECONDS.at(-1) ?? 0);
    if (isNear && found <= seconds) return target;
  }
  return null;
}

/**
 * Splits a video into parts. Returns null if a single run is better: with one thread, for a short
 * video, or if reading can't start close enough before a part.
 */
export async function planParts(
  source: Source,
  rung: Rung,
  { threads, ...cut }: { segmentSeconds: number; hasShortStart: boolean; threads: number },
): Promise<VideoPart[] | null> {
  const { format, video } = source;
  const seconds = video?.declaredSeconds ?? 0;
  if (rung.kind !== 'video' || threads < 2 || !SEEKABLE.has(format.container)) return null;
  if (seconds <= MIN_SECONDS || seconds > MAX_SECONDS) return null;
  const { height = 0, width = 0 } = video?.stream.codecpar ?? {};
  if (width * height > MAX_PIXELS) return null;
  const { leadFrames, segmentFrames } = planSegments(rung, cut);
  const frames = segmentFrames * Math.round(PART_SECONDS / cut.segmentSeconds);
  const startOf = (index: number): number => (index === 0 ? 0 : leadFrames + index * frames);
  const framesPerSecond = rung.frameRate.num / rung.frameRate.den;
  // The last part has at least half the regular length.
  const count = Math.max(1, Math.round((seconds * framesPerSecond) / frames));
  const parts: VideoPart[] = [];
  await using pictures = await openTrack(source, 'video');
  for (let index = 0; index < count; index += 1) {
    const seekSeconds =
      index === 0 ? 0 : await findSeek(pictures, startOf(index) / framesPerSecond);
    if (seekSeconds === null) return null;
    const endFrame = index === count - 1 ? null : startOf(index + 1);
    parts.push({ index, startFrame: startOf(index), endFrame, seekSeconds });
  }
  return parts;
}
