/**
 * A process's knowledge of a broadcast that it serves: the listed segments, and the latest ones'
 * parts with their bytes. It is shared by all viewers of the process, so the database is queried
 * once per part, however many viewers there are.
 *
 *   following ── nobody has asked for `idleMs`, or the segments are gone ──▶ closed
 *
 * 1. It rereads on each hint for the stream and every `pollMs`, because hints can get lost.
 * 2. What it has listed is kept until the window has moved past it.
 */
import type { Db } from '../../../platform/database/database.ts';
import type { Hints } from '../../../platform/hints/hints.ts';
import {
  listedSegments,
  mediaPlaylist,
  playlistFiles,
  type ListedSegment,
} from '../ingest/playlists.ts';
import { partsKeptSeconds } from '../ingest/part-publisher.ts';
import { countDiscontinuities } from '../ingest/publisher-queries.ts';
import type { RenditionReport } from '../ladder/rendition-reports.ts';
import { rungFiles } from '../ladder/rung-playlists.ts';
import type { LiveStreamKey } from '../queries.ts';
import type { Edge } from './blocking-reload.ts';
import {
  readEdge,
  readPartsAfter,
  readSegmentsBetween,
  type EdgePart,
  type EdgeState,
} from './edge-queries.ts';
import { FollowedRungs, maxRungLag, type TopSegments } from './followed-rungs.ts';
import { firstNear, lengthOf, lowLatencyPlaylist } from './low-latency-playlist.ts';

const pollMs = 500;
/** A stream that nobody has requested for this long is no longer followed. */
const idleMs = 10_000;

/** Hint that a stream has another part or segment. */
export const liveAdded = (liveStreamId: string) => `live-added ${liveStreamId}`;

export class FollowedStream {
  readonly #db: Db;
  readonly #key: LiveStreamKey;
  readonly #timer: NodeJS.Timeout;
  readonly #stopListening: () => void;
  readonly #onClosed: () => void;
  readonly #waiting = new Set<() => void>();
  #state: EdgeState | null = null;
  /** The listed segments, and some earlier ones for rungs that lag. */
  #segments: ListedSegment[] = [];
  /** Number of discontinuities before the first of them. */
  #earlierDiscontinuities = 0;
  readonly #rungs = new FollowedRungs();
  readonly #parts = new Map<number, EdgePart[]>();
  readonly #byName = new Map<string, EdgePart>();
  /** Playlists generated since the last change, by name. */
  readonly #texts = new Map<string, string | null>();
  #reading: Promise<void> | null = null;
  #isReadAgain = false;
  #askedAt = performance.now();
  #isClosed = false;

  constructor(of: { db: Db; hints: Hints; key: LiveStreamKey; onClosed: () => void }) {
    this.#db = of.db;
    this.#key = of.key;
    this.#onClosed = of.onClosed;
    const read = () => void this.refresh().catch(() => undefined);
    this.#stopListening = of.hints.listen(liveAdded(of.key.liveStreamId), read);
    this.#timer = setInterval(() => {
      if (performance.now() - this.#askedAt > idleMs) this.close();
      else read();
    }, pollMs);
    this.#timer.unref();
  }

  /** Null before the first read, and once the segments are gone. */
  get state(): EdgeState | null {
    return this.#state;
  }

  get edge(): Edge {
    const openSegment = this.#state?.segmentCount ?? 0;
    const count = (segment: number) => this.#parts.get(segment)?.length ?? 0;
    return { openSegment, openParts: count(openSegment), lastParts: count(openSegment - 1) };
  }

  /** Reports a request by a viewer. */
  touch(): void {
    this.#askedAt = performance.now();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearInterval(this.#timer);
    this.#stopListening();
    this.#onClosed();
    for (const wake of this.#waiting) wake();
  }

  /** Resolves with true once `isReady` holds, with false on timeout or at the stream's end. */
  async until(isReady: () => boolean, timeoutMs: number, signal: AbortSignal): Promise<boolean> {
    if (isReady()) return true;
    const { promise, resolve } = Promise.withResolvers<void>();
    const check = () => {
      if (isReady() || this.#isClosed || this.#state?.isOver === true) resolve();
    };
    const timer = setTimeout(resolve, timeoutMs);
    signal.addEventListener('abort', () => resolve(), { once: true });
    this.#waiting.add(check);
    await promise;
    this.#waiting.delete(check);
    clearTimeout(timer);
    return isReady();
  }

  /** The bytes of a part, or null. */
  partBytes(fileName: string): Buffer | null {
    return this.#byName.get(fileName)?.bytes ?? null;
  }

  /** The file name of the next part, or null if unknown. */
  get nextPart(): string | null {
    if (this.#state?.isConnected !== true || this.#state.latency !== 'low') return null;
    const open = this.#parts.get(this.#state.segmentCount);
    const latest = (open ?? this.#parts.get(this.#state.segmentCount - 1))?.at(-1);
    const match = /^(part-.*-)(\d+)(\.m4s)$/.exec(latest?.fileName ?? '');
    return match === null ? null : `${match[1]}${Number(match[2]) + 1}${match[3]}`;
  }

  get isAdvancing(): boolean {
    return this.#state !== null && this.#state.isConnected && !this.#state.isOver;
  }

  /** Returns null if the segments are gone. */
  playlist(isDelta: boolean): string | null {
    const state = this.#state;
    if (state === null) return null;
    return this.#once(isDelta ? 'delta' : 'full', () => this.#write(state, isDelta));
  }

  /** The end of a rung's playlist, or null if the storage has the latest one. */
  rungEdge(rung: string): Edge | null {
    if (this.#state === null || !this.#isLow(this.#state)) return null;
    const last = this.#rungs.lastOf(rung, { segments: this.#segments });
    return last === null ? null : { openSegment: last + 1, openParts: 0, lastParts: 0 };
  }

  /** Returns null if the storage has the latest playlist. */
  rungPlaylist(rung: string): string | null {
    const state = this.#state;
    if (state === null || this.rungEdge(rung) === null) return null;
    return this.#once(rungFiles.live(rung), () => {
      const top = this.#kept(state);
      const own = rungFiles.live(rung);
      const others = this.#rungs.reports(top).filter(({ uri }) => uri !== own);
      return this.#rungs.playlist(rung, top, [this.#ownReport(), ...others]);
    });
  }

  #once(name: string, write: () => string | null): string | null {
    const text = this.#texts.get(name) ?? write();
    this.#texts.set(name, text);
    return text;
  }

  #isLow({ latency, isOver }: EdgeState): boolean {
    return latency === 'low' && !isOver;
  }

  #ownReport(): RenditionReport {
    const latest = this.#segments.at(-1);
    const uri = playlistFiles.media;
    const { openSegment, openParts, lastParts } = this.edge;
    if (openParts > 0) return { uri, lastSegment: openSegment, lastPart: openParts - 1 };
    const parts = this.#parts.get(openSegment - 1) ?? [];
    const isListed = lastParts > 0 && lengthOf(parts) === latest?.durationMs;
    return { uri, lastSegment: openSegment - 1, lastPart: isListed ? lastParts - 1 : null };
  }

  #kept({ dvrWindowSeconds, targetDurationSeconds }: EdgeState): TopSegments {
    const [segments, earlierDiscontinuities] = [this.#segments, this.#earlierDiscontinuities];
    const listed = listedSegments(dvrWindowSeconds);
    return { segments, listed, targetDurationSeconds, earlierDiscontinuities };
  }

  #write(state: EdgeState, isDelta: boolean): string {
    const { targetDurationSeconds, isOver: isEnded, latency, dvrWindowSeconds } = state;
    const kept = this.#kept(state);
    const segments = kept.segments.slice(-kept.listed);
    const gone = kept.segments.slice(0, -kept.listed);
    const cuts = gone.filter(({ isDiscontinuity }) => isDiscontinuity).length;
    const earlierDiscontinuities = kept.earlierDiscontinuities + cuts;
    const window = { segments, targetDurationSeconds, earlierDiscontinuities };
    if (latency === 'normal' || isEnded) {
      return mediaPlaylist({ ...window, isEnded, isWhole: false });
    }
    const canSkip = dvrWindowSeconds > 0;
    const reports = this.#rungs.reports(kept);
    const low = { ...window, parts: this.#parts, nextPart: this.nextPart, canSkip, reports };
    return lowLatencyPlaylist(low, isDelta);
  }

  /** Reads what is new. Calls during a read get the result of the following one. */
  async refresh(): Promise<void> {
    this.#isReadAgain = true;
    this.#reading ??= this.#readAll();
    await this.#reading;
  }

  async #readAll(): Promise<void> {
    try {
      while (this.#isReadAgain && !this.#isClosed) {
        this.#isReadAgain = false;
        await this.#read();
      }
    } finally {
      this.#reading = null;
    }
  }

  async #read(): Promise<void> {
    const state = await readEdge(this.#db, this.#key);
    if (state === null) {
      this.#state = null;
      this.close();
      return;
    }
    await this.#readSegments(state);
    const isLow = this.#isLow(state);
    const added = isLow ? await this.#readParts(state) : [];
    const hasNewRung = isLow && (await this.#readRungs(state));
    const before = this.#state;
    this.#state = state;
    for (const part of added) {
      this.#parts.set(part.segment, [...(this.#parts.get(part.segment) ?? []), part]);
      this.#byName.set(part.fileName, part);
    }
    this.#forgetOldParts(state);
    const isSame =
      before !== null &&
      added.length === 0 &&
      !hasNewRung &&
      before.segmentCount === state.segmentCount &&
      before.isOver === state.isOver &&
      before.isConnected === state.isConnected;
    if (isSame) return;
    this.#texts.clear();
    for (const wake of this.#waiting) wake();
  }

  async #readSegments({ segmentCount, dvrWindowSeconds }: EdgeState): Promise<void> {
    const keptCount = listedSegments(dvrWindowSeconds) + maxRungLag;
    const first = Math.max(0, segmentCount - keptCount);
    const known = this.#segments.at(-1);
    if (known?.number === segmentCount - 1) return;
    const from = Math.max(first, (known?.number ?? -1) + 1);
    const added = await readSegmentsBetween(this.#db, this.#key, { from, before: segmentCount });
    const all = [...this.#segments, ...added];
    const gone = all.filter(({ number, isDiscontinuity }) => number < first && isDiscontinuity);
    this.#earlierDiscontinuities =
      known === undefined || from > known.number + 1
        ? await countDiscontinuities(this.#db, this.#key, first)
        : this.#earlierDiscontinuities + gone.length;
    this.#segments = all.filter(({ number }) => number >= first);
  }

  /** Leaves parts of segments beyond the state's count to the next read. */
  async #readParts({ segmentCount }: EdgeState): Promise<EdgePart[]> {
    const latest = Math.max(-1, ...this.#parts.keys());
    const number = this.#parts.get(latest)?.at(-1)?.number ?? -1;
    return readPartsAfter(this.#db, this.#key, { segment: latest, number }, segmentCount);
  }

  async #readRungs({ rungs: ends }: EdgeState): Promise<boolean> {
    const first = this.#segments[0]?.number ?? 0;
    return this.#rungs.read(this.#db, this.#key, { ends, first });
  }

  #forgetOldParts({ targetDurationSeconds }: EdgeState): void {
    const keptMs = partsKeptSeconds(targetDurationSeconds) * 1_000;
    const first = this.#segments[firstNear(this.#segments, keptMs)]?.number ?? 0;
    for (const [segment, parts] of this.#parts) {
      if (segment >= first) continue;
      for (const { fileName } of parts) this.#byName.delete(fileName);
      this.#parts.delete(segment);
    }
  }
}
