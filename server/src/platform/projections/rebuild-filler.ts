/**
 * Fills the copies of a rebuild, in one of any number of processes:
 *
 *   fill up to the aim → (all partitions are there) → move the aim to the end of the log, and fill
 *   on, until little is missing → settle → the copies replace the tables
 *
 * 1. Processes share the partitions by leases, like projectors do. A partition continues from its
 *    position in the copy of `projection`, whoever fills it; revisions reject a process that has
 *    lost it (run.ts).
 * 2. All partitions come to the same aim, so that the projectors continue as one lane.
 * 3. The process with the first partition settles the copies and replaces the tables, under locks
 *    that let nobody write into either.
 */
import { inBatches } from '../database/batches.ts';
import { inTransaction } from '../database/database.ts';
import { isContention } from '../database/database-errors.ts';
import { awaitedLater } from '../async/awaited-later.ts';
import { sleep } from '../async/lifecycle.ts';
import type { LogEntry, LogPosition } from '../event-log/event-log.ts';
import { LaneSet } from './lane-set.ts';
import { groupLanes, type Lane } from './lanes.ts';
import type { PartitionLeases } from './partition-leases.ts';
import type { Projection } from './projection.ts';
import { interruptProjections, setSearchPath } from './queries.ts';
import type { RebuildOptions } from './rebuild.ts';
import {
  holdCopies,
  isCompleted,
  lockFilled,
  moveAim,
  readFillProgress,
  saveProgress,
  type FillProgress,
} from './rebuild-progress.ts';
import { replaceTables, schemaOfCopies } from './rebuild-queries.ts';
import { OvertakenError } from './run.ts';

const defaultEventsOfPass = 80_000;
/** Passes become smaller while others, such as erasures, keep interrupting them. */
const minEventsOfPass = 1_000;
const page = { limitBlocks: 500, limitEvents: 20_000 };
const rowsAtOnce = 500;
const pollMs = 200;
/** When less than this is missing, the projectors do the rest. */
const maxBehindMs = 60_000;
/**
 * Maximum lead of a partition over the last one, in the log's time. It keeps data that partitions
 * share, such as engagement states by age, as small as when the projectors write it.
 */
const maxAheadMs = 12 * 3_600_000;

type Taken = { readonly id: number; readonly leases: PartitionLeases };

export class RebuildFiller<Event extends LogEntry> {
  readonly #projection: Projection<Event>;
  readonly #options: RebuildOptions<Event>;
  readonly #taken: Taken;
  readonly #lanes: LaneSet<Event>;
  #held: readonly number[] = [];
  #eventsOfPass: number;
  #total = 0;

  constructor(projection: Projection<Event>, options: RebuildOptions<Event>, taken: Taken) {
    this.#projection = projection;
    this.#options = options;
    this.#taken = taken;
    const schema = schemaOfCopies(projection.name);
    this.#lanes = new LaneSet([projection], options.eventLog, schema);
    this.#eventsOfPass = options.eventsOfPass ?? defaultEventsOfPass;
  }

  /** Claims and keeps leases until the result is disposed of. */
  async attend(leaseMs: number): Promise<AsyncDisposable> {
    const controller = new AbortController();
    await this.#claim();
    const renewing = awaitedLater(this.#renew(leaseMs / 3, controller.signal));
    return {
      async [Symbol.asyncDispose]() {
        controller.abort();
        await renewing;
      },
    };
  }

  async #claim(): Promise<void> {
    this.#held = (await this.#taken.leases.claim(this.#options.db)).partitions;
  }

  async #renew(intervalMs: number, signal: AbortSignal): Promise<void> {
    for (;;) {
      await sleep(intervalMs, signal);
      if (signal.aborted) return;
      // If this fails, other processes take over: revisions keep the copies correct.
      await this.#claim().catch(() => undefined);
    }
  }

  /** Resolves when the copies have replaced the tables. @throws if the rebuild was taken over */
  async run(): Promise<void> {
    const { db, eventLog, signal } = this.#options;
    this.#total = await eventLog.countEvents();
    for (;;) {
      signal.throwIfAborted();
      const progress = await readFillProgress(db, this.#projection, this.#taken.id);
      if (progress === null) return this.#end();
      this.#report(progress);
      if (!(await this.#advance(progress))) await sleep(pollMs, signal);
    }
  }

  async #end(): Promise<void> {
    if (await isCompleted(this.#options.db, this.#projection, this.#taken.id)) return;
    throw new Error(`another rebuild of ${this.#projection.name} has taken over`);
  }

  #report({ partitions }: FillProgress): void {
    const events = partitions.reduce((sum, one) => sum + one.events, 0);
    const projection = this.#projection.name;
    this.#options.onProgress?.({ projection, events, total: Math.max(this.#total, events) });
  }

  /** @returns false if there was nothing to do, so that it waits for the other processes */
  async #advance(progress: FillProgress): Promise<boolean> {
    if (progress.partitions.every(({ isAtAim }) => isAtAim)) {
      if (!this.#held.includes(0)) return false;
      await this.#finish(progress.aim);
      return true;
    }
    const { compare } = this.#options.eventLog;
    this.#lanes.joinTwins();
    this.#lanes.arrange(progress.partitions.filter(({ partition }) => this.#holds(partition)));
    const [[lane] = []] = groupLanes(this.#lanes.all, compare);
    if (lane === undefined || isAtAim(lane, progress) || isTooFarAhead(lane, progress))
      return false;
    await this.#pass(lane, progress.aim);
    return true;
  }

  #holds(partition: number): boolean {
    return this.#held.includes(partition);
  }

  /**
   * Always reads up to the aim, never to another lane: a read can only be limited by a position at
   * which a reader has ended, not by one in the middle of what it reads.
   */
  async #pass({ run }: Lane<Event>, until: LogPosition): Promise<void> {
    const { db, eventLog, eventsOfPass = defaultEventsOfPass } = this.#options;
    const limitEvents = Math.min(page.limitEvents, this.#eventsOfPass);
    try {
      // Counts the events of all partitions: processes pass over equal parts of the log.
      for (let events = 0, isLast = false; !isLast && events < this.#eventsOfPass;) {
        const read = await eventLog.read(run.position, { ...page, limitEvents, until });
        isLast = read.isLast;
        run.collect(read.blocks, isLast ? until : read.next);
        events += read.blocks.reduce((sum, block) => sum + block.events.length, 0);
      }
      await run.write(db);
      this.#eventsOfPass = Math.min(this.#eventsOfPass * 2, eventsOfPass);
    } catch (error) {
      run.reset();
      if (!(error instanceof OvertakenError) && !isContention(error)) throw error;
      const smaller = Math.max(Math.ceil(this.#eventsOfPass / 2), minEventsOfPass);
      this.#eventsOfPass = Math.min(smaller, this.#eventsOfPass);
    }
  }

  /** Ends the rebuild, or moves the aim if the log has grown much since it was set. */
  async #finish(aim: LogPosition): Promise<void> {
    const { db, eventLog } = this.#options;
    const { id } = this.#taken;
    const { ageMs } = await eventLog.backlog(aim);
    if (ageMs > maxBehindMs) {
      const to = await eventLog.end();
      await inTransaction(db, (tx) => moveAim(tx, this.#projection, { id, from: aim, to }));
      return;
    }
    try {
      await this.#settle();
      await this.#replace();
    } catch (error) {
      // A process that held the first partition before may have ended the rebuild meanwhile.
      if ((await readFillProgress(db, this.#projection, id)) !== null) throw error;
    }
  }

  async #settle(): Promise<void> {
    const projection = this.#projection;
    if (projection.rebuild.from === 'now') return;
    const { settle } = projection.rebuild;
    if (settle === undefined) return;
    const { db, signal } = this.#options;
    await inBatches(db, rowsAtOnce, signal, async (tx) => {
      await holdCopies(tx, projection, this.#taken.id);
      await setSearchPath(tx, schemaOfCopies(projection.name));
      return settle(tx, rowsAtOnce);
    });
  }

  async #replace(): Promise<void> {
    const projection = this.#projection;
    const { name, rebuild: plan } = projection;
    await inTransaction(this.#options.db, async (tx) => {
      // The projectors wait for these rows, and then find that they were overtaken.
      await interruptProjections(tx, [{ name }]);
      const filled = await lockFilled(tx, projection, this.#taken.id);
      // Another process has moved the aim.
      if (filled === null) return;
      if (plan.from === 'log') {
        await plan.keepOld?.(tx, schemaOfCopies(name), filled.firstDayMs);
      }
      await replaceTables(tx, projection);
      await saveProgress(tx, name, filled);
    });
  }
}

type Partitions = FillProgress['partitions'];

function partitionsOf<Event>({ run }: Lane<Event>, { partitions }: FillProgress): Partitions {
  return partitions.filter(({ partition }) => run.partitions.includes(partition));
}

function isAtAim<Event>(lane: Lane<Event>, progress: FillProgress): boolean {
  return partitionsOf(lane, progress).every((partition) => partition.isAtAim);
}

function isTooFarAhead<Event>(lane: Lane<Event>, progress: FillProgress): boolean {
  const own = partitionsOf(lane, progress).map(({ receivedAtMs }) => receivedAtMs ?? -Infinity);
  const all = progress.partitions.map(({ receivedAtMs }) => receivedAtMs ?? Infinity);
  return Math.max(...own) - Math.min(...all) > maxAheadMs;
}
