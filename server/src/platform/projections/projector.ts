/**
 * Keeps the projections up to date with the event log. One process of the cluster works on a
 * partition of the projections at a time: it holds a lease, which other processes take over if it
 * is not renewed for three seconds (partition-leases.ts). Correctness does not depend on the lease
 * but on the revisions of the projections' rows: see run.ts.
 *
 * A projection that cannot process a block never skips it. It logs an error with the block's
 * number, and retries after a delay that doubles up to half a minute. Other projections continue.
 */
import { setImmediate } from 'node:timers/promises';
import type { Logger } from 'pino';
import { inTransaction, type Db } from '../database/database.ts';
import { isContention, isDatabaseAway } from '../database/database-errors.ts';
import {
  UnreadableBlockError,
  type EventLog,
  type LogBlock,
  type LogEntry,
  type LogPage,
  eventLogGrown,
  type LogPosition,
} from '../event-log/event-log.ts';
import { background, sleep } from '../async/lifecycle.ts';
import { PollPace } from '../async/poll-pace.ts';
import { Doorbell, type Hints } from '../hints/hints.ts';
import { aimOf, groupLanes, hasJoined, type Lane } from './lanes.ts';
import { LaneSet } from './lane-set.ts';
import { PartitionLeases } from './partition-leases.ts';
import type { Projection } from './projection.ts';
import { insertProjections, noteProjectionFailure, readProgress } from './queries.ts';
import { OvertakenError, type ProjectionRun } from './run.ts';

export type PassReport = {
  readonly projection: string;
  readonly outcome: 'written' | 'overtaken' | 'failed';
  readonly events: number;
  readonly durationMs: number;
  /** The age of the newest event of the pass. */
  readonly lagMs: number;
};

export type ProjectorOptions<Event extends LogEntry> = {
  readonly db: Db;
  readonly log: Logger;
  readonly eventLog: EventLog<Event>;
  readonly projections: readonly Projection<Event>[];
  readonly hints?: Hints;
  readonly onPass?: (report: PassReport) => void;
  /** How long other processes wait before they take over; for tests. */
  readonly leaseMs?: number;
};

export type Projector = AsyncDisposable & {
  /** Signals that the log has grown. */
  nudge(): void;
};

const pollMs = 200;
const longestPollMs = 600;
const readMs = 60;
const defaultLeaseMs = 3_000;
const pageEvents = 4_000;
const pageBlocks = 1_000;

export function startProjector<Event extends LogEntry>(
  options: ProjectorOptions<Event>,
): Projector {
  const bell = new Doorbell();
  const loop = background(
    'projector',
    (signal) => new ProjectorLoop(options, bell).run(signal),
    options.log,
  );
  const unlisten = options.hints?.listen(eventLogGrown, () => bell.ring());
  return {
    nudge: () => bell.ring(),
    async [Symbol.asyncDispose]() {
      unlisten?.();
      await loop[Symbol.asyncDispose]();
    },
  };
}

class ProjectorLoop<Event extends LogEntry> {
  readonly #options: ProjectorOptions<Event>;
  readonly #bell: Doorbell;
  readonly #leases: PartitionLeases;
  readonly #lanes: LaneSet<Event>;
  readonly #leaseMs: number;
  readonly #pollPace = new PollPace({ shortestMs: pollMs, longestMs: longestPollMs });
  #claimedAt = -Infinity;
  #isSettled = false;

  constructor(options: ProjectorOptions<Event>, bell: Doorbell) {
    this.#options = options;
    this.#bell = bell;
    this.#leaseMs = options.leaseMs ?? defaultLeaseMs;
    this.#leases = new PartitionLeases(this.#leaseMs);
    this.#lanes = new LaneSet(options.projections, options.eventLog);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { db, projections } = this.#options;
    await inTransaction(db, (tx) =>
      insertProjections(
        tx,
        projections.map(({ name }) => name),
      ),
    );
    try {
      while (!signal.aborted) {
        await this.#claim();
        const hasMore = await this.#advance();
        if (hasMore) continue;
        const restMs = this.#restMs();
        // Under load, the bell rings continuously. Blocks are read while they are in memory, and
        // written when a write is due.
        if (restMs > 0) await sleep(Math.min(restMs, readMs), signal);
        else if (await this.#bell.wait(this.#pollPace.ms, signal)) this.#pollPace.foundSomething();
        else this.#pollPace.foundNothing();
      }
    } finally {
      // Lets another process continue immediately. If the database is unavailable, the leases
      // simply expire.
      await this.#leases.release(db).catch(() => undefined);
    }
  }

  /** Claims and keeps leases. Partitions that another process holds are left alone. */
  async #claim(): Promise<void> {
    const sinceMs = performance.now() - this.#claimedAt;
    const isUnsure =
      !this.#isSettled || this.#lanes.all.some(({ run, pace }) => !run.isReady && pace.mayRetry());
    if (sinceMs <= this.#leaseMs / 3 && !(isUnsure && sinceMs > pollMs)) return;
    const { db, projections } = this.#options;
    const { partitions, isSettled } = await this.#leases.claim(db);
    this.#isSettled = isSettled;
    const names = projections.map(({ name }) => name);
    // Read after claiming the leases, so that it includes the last writes of previous holders.
    this.#lanes.arrange(partitions.length === 0 ? [] : await readProgress(db, names, partitions));
    this.#claimedAt = performance.now();
  }

  /**
   * Reads and writes one round.
   *
   * @returns whether there is more to do right away
   */
  async #advance(): Promise<boolean> {
    let hasMore = false;
    const { compare } = this.#options.eventLog;
    const lanes = this.#lanes.all;
    for (const group of groupLanes(lanes, compare)) {
      const [lane] = group;
      const aim = lane === undefined ? null : aimOf(lane, lanes, compare);
      const page = await this.#read(group, aim);
      if (page === null) continue;
      await this.#collect(group, page);
      // Blocks beyond this group's target are those that other lanes have already read.
      hasMore ||= !page.isLast || aim !== null;
      // Lanes that have just caught up with others continue with them in the next round.
      if (hasJoined(group, lanes, compare)) break;
    }
    await this.#writeAll(
      lanes.filter((lane) => {
        const { run, pace } = lane;
        if (!run.isReady) return false;
        // Lanes that are to be merged write first, so that they have the same position.
        if (this.#lanes.hasTwin(lane)) return true;
        if (run.collected.blocks === 0) return false;
        return run.collected.events >= pace.maxEvents || pace.isDue();
      }),
    );
    if (this.#lanes.joinTwins()) this.#claimedAt = -Infinity;
    return hasMore;
  }

  async #read(
    group: readonly Lane<Event>[],
    aim: LogPosition | null,
  ): Promise<LogPage<LogBlock<Event>> | null> {
    const [lane] = group;
    if (lane === undefined) return null;
    const limitBlocks = Math.min(pageBlocks, ...group.map(({ pace }) => pace.maxBlocks));
    try {
      return await this.#options.eventLog.read(lane.run.position, {
        limitBlocks,
        limitEvents: pageEvents,
        ...(aim !== null && { until: aim }),
      });
    } catch (error) {
      if (!(error instanceof UnreadableBlockError)) throw error;
      for (const each of group) await this.#fail(each, error, performance.now());
      return null;
    }
  }

  /**
   * Yields to the event loop after each block, because requests of this process must not wait for a
   * whole page.
   */
  async #collect(
    group: readonly Lane<Event>[],
    { blocks, next }: LogPage<LogBlock<Event>>,
  ): Promise<void> {
    for (const { run } of group) run.collect([], next);
    if (blocks.length > 0) this.#pollPace.foundSomething();
    for (const block of blocks) {
      for (const lane of group) {
        // A lane that failed resumes from its last committed position.
        if (!lane.run.isReady) continue;
        try {
          lane.run.collect([block], next);
        } catch (error) {
          await this.#fail(lane, error, performance.now());
        }
      }
      await setImmediate();
    }
  }

  /** Concurrent, because lanes write different tables and mostly wait for the database. */
  async #writeAll(lanes: readonly Lane<Event>[]): Promise<void> {
    const outcomes = await Promise.allSettled(lanes.map((lane) => this.#write(lane)));
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  }

  async #write(lane: Lane<Event>): Promise<void> {
    const { run, pace } = lane;
    const { events, receivedAt, lastSequence } = run.collected;
    const startedAt = performance.now();
    try {
      await run.write(this.#options.db);
    } catch (error) {
      if (isDatabaseAway(error)) throw error;
      await this.#fail(lane, error, startedAt);
      return;
    }
    const durationMs = performance.now() - startedAt;
    pace.written(durationMs, lastSequence);
    const lagMs = Math.max(0, Date.now() - receivedAt);
    this.#report(run, { outcome: 'written', events, durationMs, lagMs });
  }

  async #fail({ run, pace }: Lane<Event>, error: unknown, startedAt: number): Promise<void> {
    const { events, receivedAt, firstSequence, lastSequence } = run.collected;
    const { log } = this.#options;
    const projection = run.projection.name;
    run.reset();
    const isOvertaken = error instanceof OvertakenError || isContention(error);
    if (isOvertaken) {
      // Expected when two processes alternate, or when a rebuild or an erasure intervenes.
      log.debug({ err: error, projection }, 'retrying a projection pass');
    } else {
      const { delayMs, isNews } = pace.failed(
        lastSequence,
        `${firstSequence} ${lastSequence} ${String(error)}`,
      );
      log[isNews ? 'error' : 'info'](
        { err: error, projection, firstSequence, lastSequence, delayMs },
        'a projection cannot process an event log block; it will retry that block',
      );
      await inTransaction(this.#options.db, (tx) =>
        noteProjectionFailure(tx, projection, run.partitions),
      );
    }
    this.#report(run, {
      outcome: isOvertaken ? 'overtaken' : 'failed',
      events,
      durationMs: performance.now() - startedAt,
      lagMs: Math.max(0, Date.now() - receivedAt),
    });
  }

  #report({ projection }: ProjectionRun<Event>, report: Omit<PassReport, 'projection'>): void {
    this.#options.onPass?.({ projection: projection.name, ...report });
  }

  /** The delay until the next write, or undefined if all lanes are idle. */
  #restMs(): number {
    const ready = this.#lanes.all.filter(({ run }) => run.isReady);
    const rests = ready.map(({ pace }) => pace.untilDueMs());
    return rests.length === 0 ? 0 : Math.min(...rests, pollMs);
  }
}
