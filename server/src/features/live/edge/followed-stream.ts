/**
 * What a process knows of a broadcast that it serves: the segments that are listed, and the parts of the
 * latest ones with their bytes. All viewers of the process share it, so the database is asked once for
 * each part, however many they are.
 *
 *   following ── nobody has asked for `idleMs`, or the segments are gone ──▶ closed
 *
 * 1. It reads again at each hint of the stream, and each `pollMs`, because hints may get lost.
 * 2. What it has listed it keeps until the window has moved on.
 */
import type { Db } from '../../../platform/database/database.ts';
import type { Hints } from '../../../platform/hints.ts';
import { listedSegments, mediaPlaylist, type ListedSegment } from '../ingest/playlists.ts';
import { partsKeptSeconds } from '../ingest/part-publisher.ts';
import { countDiscontinuities } from '../ingest/publisher-queries.ts';
import type { LiveStreamKey } from '../queries.ts';
import type { Edge } from './blocking-reload.ts';
import {
  readEdge,
  readPartsAfter,
  readSegmentsBetween,
  type EdgePart,
  type EdgeState,
} from './edge-queries.ts';
import { firstNear, lowLatencyPlaylist } from './low-latency-playlist.ts';

const pollMs = 500;
/** A stream that nobody has asked for in so long is not followed any more. */
const idleMs = 10_000;

/** The hint that a stream has another part or segment. */
export const liveAdded = (liveStreamId: string) => `live-added ${liveStreamId}`;

type Texts = { full: string | null; delta: string | null };

export class FollowedStream {
  readonly #db: Db;
  readonly #key: LiveStreamKey;
  readonly #timer: NodeJS.Timeout;
  readonly #stopListening: () => void;
  readonly #onClosed: () => void;
  readonly #waiting = new Set<() => void>();
  #state: EdgeState | null = null;
  #segments: ListedSegment[] = [];
  #earlierDiscontinuities = 0;
  readonly #parts = new Map<number, EdgePart[]>();
  readonly #byName = new Map<string, EdgePart>();
  #texts: Texts = { full: null, delta: null };
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

  /** Null before the first reading, and once the segments are gone. */
  get state(): EdgeState | null {
    return this.#state;
  }

  get edge(): Edge {
    const openSegment = this.#state?.segmentCount ?? 0;
    const count = (segment: number) => this.#parts.get(segment)?.length ?? 0;
    return { openSegment, openParts: count(openSegment), lastParts: count(openSegment - 1) };
  }

  /** Somebody watches. */
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

  /** Resolves with true once `isReady`; with false when the time is over, or all is. */
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

  /** The bytes of a part; null where there are none. */
  partBytes(fileName: string): Buffer | null {
    return this.#byName.get(fileName)?.bytes ?? null;
  }

  /** The file that the next part will be; null where it is unknown. */
  get nextPart(): string | null {
    if (this.#state?.isConnected !== true || this.#state.latency !== 'low') return null;
    const open = this.#parts.get(this.#state.segmentCount);
    const latest = (open ?? this.#parts.get(this.#state.segmentCount - 1))?.at(-1);
    const match = /^(part-.*-)(\d+)(\.m4s)$/.exec(latest?.fileName ?? '');
    return match === null ? null : `${match[1]}${Number(match[2]) + 1}${match[3]}`;
  }

  /** Whether a publisher is there. */
  get isAdvancing(): boolean {
    return this.#state !== null && this.#state.isConnected && !this.#state.isOver;
  }

  /** Null when the segments are gone. */
  playlist(isDelta: boolean): string | null {
    if (this.#state === null) return null;
    const name = isDelta ? 'delta' : 'full';
    const text = this.#texts[name] ?? this.#write(this.#state, isDelta);
    this.#texts[name] = text;
    return text;
  }

  #write(state: EdgeState, isDelta: boolean): string {
    const { targetDurationSeconds, isOver: isEnded, latency, dvrWindowSeconds } = state;
    const [segments, earlierDiscontinuities] = [this.#segments, this.#earlierDiscontinuities];
    const window = { segments, targetDurationSeconds, earlierDiscontinuities };
    if (latency === 'normal' || isEnded) {
      return mediaPlaylist({ ...window, isEnded, isWhole: false });
    }
    const canSkip = dvrWindowSeconds > 0;
    const low = { ...window, parts: this.#parts, nextPart: this.nextPart, canSkip };
    return lowLatencyPlaylist(low, isDelta);
  }

  /** Reads what is new. Calls while a reading is under way get the one after it. */
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
    const added = state.latency === 'low' && !state.isOver ? await this.#readParts(state) : [];
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
      before.segmentCount === state.segmentCount &&
      before.isOver === state.isOver &&
      before.isConnected === state.isConnected;
    if (isSame) return;
    this.#texts = { full: null, delta: null };
    for (const wake of this.#waiting) wake();
  }

  async #readSegments({ segmentCount, dvrWindowSeconds }: EdgeState): Promise<void> {
    const first = Math.max(0, segmentCount - listedSegments(dvrWindowSeconds));
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

  /** Parts of segments behind those that the state counts come with the next reading. */
  async #readParts({ segmentCount }: EdgeState): Promise<EdgePart[]> {
    const latest = Math.max(-1, ...this.#parts.keys());
    const number = this.#parts.get(latest)?.at(-1)?.number ?? -1;
    return readPartsAfter(this.#db, this.#key, { segment: latest, number }, segmentCount);
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
