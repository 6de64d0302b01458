/**
 * A process's knowledge of the rungs of a broadcast that it serves. A rung has no parts: its
 * playlist is the top's, up to the last segment that the rung has or that is permanently a gap.
 */
import type { Db } from '../../../platform/database/database.ts';
import type { ListedSegment } from '../ingest/playlists.ts';
import type { RenditionReport } from '../ladder/rendition-reports.ts';
import { rungFiles, rungPlaylist } from '../ladder/rung-playlists.ts';
import { readRungFiles, type RungEnd, type RungFile } from '../ladder/rung-queries.ts';
import type { LiveStreamKey } from '../queries.ts';

/** A rung that lags further behind the top is served from the storage. */
export const maxRungLag = 8;

type FollowedRung = { last: number; readonly files: Map<number, RungFile> };

/** The listed segments of the top rendition, plus `maxRungLag` earlier ones. */
export type TopSegments = {
  readonly segments: readonly ListedSegment[];
  readonly listed: number;
  readonly targetDurationSeconds: number;
  /** Number of discontinuities before the first of the segments. */
  readonly earlierDiscontinuities: number;
};

export class FollowedRungs {
  readonly #rungs = new Map<string, FollowedRung>();

  /**
   * Reads new segments.
   * @param ends last segments of the rungs
   * @param first the first of the top's segments that is kept
   * @returns whether there was anything new
   */
  async read(
    db: Db,
    key: LiveStreamKey,
    { ends, first }: { ends: readonly RungEnd[]; first: number },
  ): Promise<boolean> {
    const lastOf = (name: string) => this.#rungs.get(name)?.last ?? -1;
    const behind = ends.filter(({ name, last }) => last > lastOf(name));
    if (behind.length === 0) return false;
    const from = Math.max(first, Math.min(...behind.map(({ name }) => lastOf(name) + 1)));
    const rows = await readRungFiles(db, key, from);
    for (const { name, last } of behind) {
      const files = this.#rungs.get(name)?.files ?? new Map<number, RungFile>();
      for (const row of rows) {
        if (row.rung === name && row.number <= last) files.set(row.number, row);
      }
      for (const number of files.keys()) if (number < first) files.delete(number);
      this.#rungs.set(name, { last, files });
    }
    return true;
  }

  /** The last segment of a rung, or null if the rung is not followed. */
  lastOf(name: string, { segments }: Pick<TopSegments, 'segments'>): number | null {
    const last = this.#rungs.get(name)?.last;
    const top = segments.at(-1)?.number;
    return last === undefined || top === undefined || last < top - maxRungLag ? null : last;
  }

  reports(top: Pick<TopSegments, 'segments'>): RenditionReport[] {
    return [...this.#rungs.keys()].flatMap((name) => {
      const lastSegment = this.lastOf(name, top);
      return lastSegment === null
        ? []
        : [{ uri: rungFiles.live(name), lastSegment, lastPart: null }];
    });
  }

  /**
   * Returns null if the rung is not followed.
   * @param reports rendition reports about the other renditions
   */
  playlist(name: string, top: TopSegments, reports: readonly RenditionReport[]): string | null {
    const last = this.lastOf(name, top);
    if (last === null) return null;
    const { targetDurationSeconds } = top;
    const reached = top.segments.filter(({ number }) => number <= last);
    const listed = reached.slice(-top.listed);
    const gone = reached.slice(0, -top.listed).filter(({ isDiscontinuity }) => isDiscontinuity);
    const files = this.#rungs.get(name)?.files;
    const segments = listed.map((segment) => {
      const { fileName = null, headerName = null } = files?.get(segment.number) ?? {};
      return { ...segment, fileName, headerName };
    });
    const earlierDiscontinuities = top.earlierDiscontinuities + gone.length;
    const window = { segments, targetDurationSeconds, earlierDiscontinuities };
    return rungPlaylist({ ...window, isEnded: false, isWhole: false, reports });
  }
}
