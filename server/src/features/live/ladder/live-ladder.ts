/**
 * The rungs of one publisher's broadcast and the media child that produces them.
 *
 *   off ── a segment begins ──▶ running ── child died ──▶ off (up to `maxDeaths` times, then dropped)
 *                                  └── too slow ──▶ off without its largest rung, or dropped
 *
 * 1. The broadcast never waits for its rungs: pictures are handed over without waiting.
 * 2. Pictures that the child has not taken are bounded, in time and in bytes.
 * 3. The number of children per process is bounded; further broadcasts have only their top
 *    rendition.
 */
import { availableParallelism } from 'node:os';
import type { Logger } from 'pino';
import { awaitedLater } from '../../../platform/async/awaited-later.ts';
import type { Scratch } from '../../../platform/storage/scratch.ts';
import { hourMs } from '../../../platform/values/time.ts';
import {
  liveRungs,
  LiveRungs,
  type LivePicture,
  type RungSegment,
  type VideoRung,
} from '../../media/media.ts';
import type { VideoHeader } from '../ingest/video-header.ts';

/** The values that the setting accepts. */
export const liveSteps = ['off', '240', '360', '540', '720'] as const;

/** The default rungs for this machine's cores; see docs/live.md. */
export function defaultRungs(
  cores = availableParallelism(),
): readonly (typeof liveSteps)[number][] {
  if (cores < 2) return [];
  return cores < 4 ? ['360'] : ['540', '240'];
}

export type LadderOptions = {
  /** Short sides of the rungs to create; empty for none. */
  readonly steps: readonly string[];
  readonly memoryLimitBytes: number;
  readonly niceness: number;
  readonly scratch: Scratch;
  readonly places: LadderPlaces;
};

/** Limits how many broadcasts of this process have rungs concurrently, and counts dropped rungs. */
export class LadderPlaces {
  readonly #max: number;
  #taken = 0;
  dropped = 0;

  constructor(max = Math.max(1, availableParallelism() - 1)) {
    this.#max = max;
  }

  get taken(): number {
    return this.#taken;
  }

  take(): boolean {
    if (this.#taken >= this.#max) return false;
    this.#taken += 1;
    return true;
  }

  release(): void {
    this.#taken -= 1;
  }
}

/** A picture and its codec configuration. */
export type TopPicture = LivePicture & { readonly video: VideoHeader };

export type RungState = {
  readonly name: string;
  readonly width: number;
  readonly height: number;
  readonly state: 'live' | 'dropped';
};

/** About two segments. */
const maxLagMs = 4_000;
const maxStartMs = 30_000;
const maxUntakenBytes = 64 * 1024 * 1024;
const maxDeaths = 3;
const deadlineMs = 25 * hourMs;
/** Time that the end of a connection waits for the last segments. */
const finishMs = 1_500;
/** Assumed duration of the very last picture. */
const lastPictureMs = 33;

type Child = { rungs: LiveRungs; video: VideoHeader | null; kill: AbortController };

export class LiveLadder {
  readonly #options: LadderOptions;
  readonly #log: Logger;
  readonly #onSegment: (segment: RungSegment, rung: VideoRung) => void;
  readonly #dropped = new Set<string>();
  #planned: readonly VideoRung[] = [];
  #plannedFor: VideoHeader | null = null;
  #child: Child | null = null;
  #isOver = false;
  #lastNumber = -1;
  #deaths = 0;
  #shownMs = 0;

  constructor(
    options: LadderOptions,
    log: Logger,
    onSegment: (segment: RungSegment, rung: VideoRung) => void,
  ) {
    this.#options = options;
    this.#log = log;
    this.#onSegment = onSegment;
  }

  get isOn(): boolean {
    return this.#options.steps.length > 0;
  }

  get states(): RungState[] {
    return this.#planned.map(({ name, width, height }) => {
      const state = this.#dropped.has(name) ? 'dropped' : 'live';
      return { name, width, height, state };
    });
  }

  get liveNames(): ReadonlySet<string> {
    return new Set(this.#wanted.map(({ name }) => name));
  }

  get #wanted(): VideoRung[] {
    return this.#planned.filter(({ name }) => !this.#dropped.has(name));
  }

  /** Passes on pictures without waiting. */
  take(pictures: readonly TopPicture[]): void {
    for (const picture of pictures) this.#takeOne(picture);
  }

  /** Call after the last picture. Resolves when the last segments are ready, or on timeout. */
  async finish(): Promise<void> {
    this.#isOver = true;
    const child = this.#child;
    if (child === null) return;
    child.rungs.end(this.#shownMs + lastPictureMs);
    const late = setTimeout(() => child.kill.abort(), finishMs);
    await child.rungs.ended.catch(() => undefined);
    clearTimeout(late);
  }

  #takeOne(picture: TopPicture): void {
    const begins = picture.isKey && picture.number > this.#lastNumber;
    this.#lastNumber = picture.number;
    if (!this.isOn || this.#isOver) return;
    const child = this.#child;
    if (child === null) {
      if (begins) this.#start(picture);
      return;
    }
    if (this.#isSlow(child.rungs)) {
      this.#drop(child);
      return;
    }
    this.#feed(child, picture);
  }

  #feed(child: Child, picture: TopPicture): void {
    const { shownMs, video } = picture;
    this.#shownMs = Math.max(this.#shownMs, shownMs);
    if (child.video === null || !child.video.record.equals(video.record)) {
      this.#plan(video);
      child.video = video;
      child.rungs.setFormat({ codec: video.codecId, record: video.record, rungs: this.#wanted });
    }
    child.rungs.take(picture);
  }

  #plan(video: VideoHeader): void {
    if (this.#plannedFor?.record.equals(video.record) === true) return;
    const { codecId: codec, height, width } = video;
    this.#planned = liveRungs({ codec, width, height }, this.#options.steps);
    this.#plannedFor = video;
  }

  #isSlow(rungs: LiveRungs): boolean {
    const { lagMs, startingMs, untakenBytes } = rungs;
    if (untakenBytes > maxUntakenBytes) return true;
    return startingMs === null ? lagMs > maxLagMs : startingMs > maxStartMs;
  }

  /** The machine is too slow for all rungs. */
  #drop(child: Child): void {
    const [largest] = this.#wanted;
    if (largest !== undefined) this.#note(largest.name);
    this.#log.warn(
      { rung: largest?.name },
      'live stream: rendition dropped because the machine is too slow',
    );
    this.#child = null;
    child.kill.abort();
  }

  #note(name: string): void {
    this.#dropped.add(name);
    this.#options.places.dropped += 1;
  }

  /** The child starts with the first picture of a segment; later ones wait until it has started. */
  #start(picture: TopPicture): void {
    this.#plan(picture.video);
    const { memoryLimitBytes, niceness, places, scratch } = this.#options;
    if (this.#wanted.length === 0 || !places.take()) return;
    const kill = new AbortController();
    const onSegment = (segment: RungSegment): void => {
      const rung = this.#planned.find(({ name }) => name === segment.rung);
      if (rung !== undefined && !kill.signal.aborted) this.#onSegment(segment, rung);
    };
    const folder = awaitedLater(scratch.createFolder('live-rungs'));
    const workDir = awaitedLater(folder.then(({ path }) => path));
    const limits = { memoryLimitBytes, niceness, deadlineMs, signal: kill.signal };
    const rungs = new LiveRungs({ ...limits, workDir, onSegment });
    const child: Child = { rungs, video: null, kill };
    this.#child = child;
    this.#feed(child, picture);
    void rungs.ended
      .catch((error: unknown) => this.#noteDeath(child, error))
      .then(async () => (await folder)[Symbol.asyncDispose]())
      .catch((error: unknown) =>
        this.#log.info({ err: error }, 'live stream: could not remove a folder'),
      )
      .finally(() => places.release());
  }

  #noteDeath(child: Child, error: unknown): void {
    if (this.#child === child) this.#child = null;
    if (child.kill.signal.aborted || this.#isOver) return;
    this.#deaths += 1;
    this.#log.warn({ err: error }, 'live stream: rendition process died');
    if (this.#deaths < maxDeaths) return;
    for (const { name } of this.#wanted) this.#note(name);
  }
}
