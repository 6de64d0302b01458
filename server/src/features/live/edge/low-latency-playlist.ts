/**
 * The media playlist of a low-latency stream (RFC 8216bis, draft 17, sections 4.4.3.7, 4.4.4.9,
 * 4.4.5 and B.1).
 *
 * 1. The parts of a segment are listed before it is complete, and stay until it is three target
 *    durations from the end.
 * 2. Parts of a complete segment are listed only if they cover all of it.
 */
import { playlistFiles, type ListedSegment } from '../ingest/playlists.ts';
import { partTargetMs } from '../ingest/part-publisher.ts';
import { reportLines, type RenditionReport } from '../ladder/rendition-reports.ts';
import type { EdgePart } from './edge-queries.ts';

export type ListedPart = Omit<EdgePart, 'bytes'>;

export type LowLatencyPlaylist = {
  readonly segments: readonly ListedSegment[];
  readonly parts: ReadonlyMap<number, readonly ListedPart[]>;
  readonly targetDurationSeconds: number;
  readonly earlierDiscontinuities: number;
  /** The file name of the next expected part, or null if unknown. */
  readonly nextPart: string | null;
  /** Whether players may skip what they have, which is worthwhile for a long window. */
  readonly canSkip: boolean;
  readonly reports: readonly RenditionReport[];
};

const seconds = (ms: number) => (ms / 1_000).toFixed(3);

/** The skip boundary (CAN-SKIP-UNTIL): older segments may be omitted. */
export function skipSeconds(targetDurationSeconds: number): number {
  return 6 * targetDurationSeconds;
}

/** @param isDelta omits the segments that the player has, if allowed */
export function lowLatencyPlaylist(playlist: LowLatencyPlaylist, isDelta: boolean): string {
  const { segments, parts, targetDurationSeconds: target, nextPart } = playlist;
  const skipped = isDelta && playlist.canSkip ? skippedCount(playlist) : 0;
  const lines = [
    '#EXTM3U',
    '#EXT-X-VERSION:9',
    `#EXT-X-TARGETDURATION:${target}`,
    serverControl(playlist),
    `#EXT-X-PART-INF:PART-TARGET=${seconds(partTargetMs)}`,
    `#EXT-X-MEDIA-SEQUENCE:${segments[0]?.number ?? 0}`,
    `#EXT-X-DISCONTINUITY-SEQUENCE:${playlist.earlierDiscontinuities}`,
    ...(skipped > 0 ? [`#EXT-X-SKIP:SKIPPED-SEGMENTS=${skipped}`] : []),
  ];
  const firstWithParts = firstNear(segments, 3 * target * 1_000);
  let format = skipped > 0 ? (segments[skipped - 1]?.format ?? null) : null;
  const begin = (segment: Pick<ListedSegment, 'isDiscontinuity' | 'format' | 'startedAt'>) => {
    if (segment.isDiscontinuity) lines.push('#EXT-X-DISCONTINUITY');
    if (segment.format !== format) {
      lines.push(`#EXT-X-MAP:URI="${playlistFiles.init(segment.format)}"`);
    }
    format = segment.format;
    lines.push(`#EXT-X-PROGRAM-DATE-TIME:${segment.startedAt.toISOString()}`);
  };
  for (const [index, segment] of segments.entries()) {
    if (index < skipped) continue;
    begin(segment);
    const known = index < firstWithParts ? [] : (parts.get(segment.number) ?? []);
    if (lengthOf(known) === segment.durationMs) lines.push(...known.map(partLine));
    lines.push(`#EXTINF:${seconds(segment.durationMs)},`, segment.fileName);
  }
  const open = parts.get((segments.at(-1)?.number ?? -1) + 1) ?? [];
  const [first] = open;
  if (first !== undefined) begin({ ...first, startedAt: first.segmentStartedAt });
  lines.push(...open.map(partLine));
  if (nextPart !== null) lines.push(`#EXT-X-PRELOAD-HINT:TYPE=PART,URI="${nextPart}"`);
  lines.push(...reportLines(playlist.reports));
  return `${lines.join('\n')}\n`;
}

function serverControl({ targetDurationSeconds: target, canSkip }: LowLatencyPlaylist): string {
  const values = [
    'CAN-BLOCK-RELOAD=YES',
    `PART-HOLD-BACK=${seconds(3 * partTargetMs)}`,
    `HOLD-BACK=${seconds(3_000 * target)}`,
    ...(canSkip ? [`CAN-SKIP-UNTIL=${seconds(1_000 * skipSeconds(target))}`] : []),
  ];
  return `#EXT-X-SERVER-CONTROL:${values.join(',')}`;
}

function partLine({ durationMs, fileName, isIndependent }: ListedPart): string {
  const independent = isIndependent ? ',INDEPENDENT=YES' : '';
  return `#EXT-X-PART:DURATION=${seconds(durationMs)},URI="${fileName}"${independent}`;
}

export function lengthOf(parts: readonly { readonly durationMs: number }[]): number {
  return parts.reduce((sum, { durationMs }) => sum + durationMs, 0);
}

/** The index of the first segment within this many milliseconds from the end. */
export function firstNear(segments: readonly ListedSegment[], ms: number): number {
  let length = 0;
  for (let index = segments.length - 1; index >= 0; index -= 1) {
    if (length >= ms) return index + 1;
    length += segments[index]?.durationMs ?? 0;
  }
  return 0;
}

/** Number of segments before the skip boundary. */
function skippedCount({ segments, targetDurationSeconds }: LowLatencyPlaylist): number {
  return firstNear(segments, skipSeconds(targetDurationSeconds) * 1_000);
}
