import { AVSEEK_FLAG_BACKWARD, AV_NOPTS_VALUE } from 'node-av/constants';
import type { Rung } from '../ladder.ts';
import { readPackets } from './decoding.ts';
import { openTrack, type OpenTrack } from './open-track.ts';
import { planSegments } from './segment-plan.ts';
import type { Source } from './source.ts';

/**
 * A long video is cut into parts that are encoded at the same time. Parts start where segments do, and
 * each decodes the pictures around its cuts itself, so joined they are what one run would have made.
 */
export type Part = {
  readonly index: number;
  /** Number of the first picture in the rendition. */
  readonly startFrame: number;
  /** Number of the first picture of the next part; null for the last part. */
  readonly endFrame: number | null;
  /** Where in the source reading has to start, in seconds from its start. */
  readonly seekSeconds: number;
};

/** Below this the parts cost more than they gain. */
const MIN_SECONDS = 60;
/** The sound of a longer source, which waits for the parts, would take too much memory. */
const MAX_SECONDS = 3 * 3_600;
/** Each part keeps decoded pictures; those of a larger format twice would take too much memory. */
const MAX_PIXELS = 9_000_000;
/** Short enough to keep the encoded pictures of a few parts in memory. */
const PART_SECONDS = 20;
/**
 * How far before a part its reading may start. Key frames further apart would have parts decode more
 * than they encode.
 */
const SEEK_LEADS_SECONDS = [1, 4, 12] as const;
/** Containers with an index, whose timestamps never restart. */
const SEEKABLE: ReadonlySet<string> = new Set(['mov', 'matroska']);
const MICROSECONDS = 1_000_000;

/** Moves to a key frame at or before a time, counted from the start of the source. */
export async function seek({ source, stream }: OpenTrack, seconds: number): Promise<boolean> {
  const { num, den } = stream.stream.timeBase;
  const start = Number(source.startMicroseconds) / MICROSECONDS;
  const ticks = BigInt(Math.floor(((start + Math.max(0, seconds)) * den) / num));
  const { index } = stream.stream;
  return (await source.container.seekFrame(index, ticks, AVSEEK_FLAG_BACKWARD)) >= 0;
}

/** When the picture that the next packet holds is shown; null where that is not known. */
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
 * Where to start reading so that the picture shown at `seconds` is decoded. Indexes are in the order
 * of decoding, so the key frame that a seek finds may be shown later than what was asked for.
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
 * Cuts a video into parts. Returns null where one run is better: with a single thread, for a short
 * video, and where a part could not start reading close before its first picture.
 */
export async function planParts(
  source: Source,
  rung: Rung,
  { threads, ...cut }: { segmentSeconds: number; hasShortStart: boolean; threads: number },
): Promise<Part[] | null> {
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
  // What is left after the last cut is half a part at least.
  const count = Math.max(1, Math.round((seconds * framesPerSecond) / frames));
  const parts: Part[] = [];
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
