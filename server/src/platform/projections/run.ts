/**
 * Partitions of a projection that are at one position, on their way along the log: what was read for them,
 * and what of that is written.
 */
import type { Db } from '../database/database.ts';
import type { LogBlock, LogPosition } from '../event-log/event-log.ts';
import { everyPartition, partitionCount, partitionOf } from './partitions.ts';
import { isDivided, type Projection, type ProjectionWriter } from './projection.ts';
import { advanceProjection, lockPartitions, preparePass, type Progress } from './queries.ts';

/** Somebody else has written for the projection since it was read. */
export class OvertakenError extends Error {
  override readonly name = 'OvertakenError';

  constructor(projection: string) {
    super(`another writer has moved the projection ${projection}`);
  }
}

export type RunOptions = {
  /** Ascending; all where none are given. */
  readonly partitions?: readonly number[];
  /** Where its tables are, unless they are the ones that everybody reads. */
  readonly schema?: string;
};

export class ProjectionRun<Event> {
  readonly projection: Projection<Event>;
  readonly partitions: readonly number[];
  /** Everything before it was collected or written. */
  position: LogPosition;
  /**
   * Collected and not written yet. Blocks are those of the log, events those of these partitions.
   */
  collected = { events: 0, blocks: 0, firstSequence: 0, lastSequence: 0, receivedAt: 0 };
  /** False before the first `resume`, and when nobody can say what its rows are. */
  isReady = false;
  readonly #writer: ProjectionWriter<Event>;
  readonly #start: LogPosition;
  readonly #schema: string | null;
  /** By partition, what this run has read or written last. */
  readonly #revisions = new Map<number, number>();

  /** @param start of the log */
  constructor(
    projection: Projection<Event>,
    start: LogPosition,
    { partitions = everyPartition, schema }: RunOptions = {},
  ) {
    this.projection = projection;
    this.partitions = partitions;
    this.position = start;
    this.#start = start;
    this.#writer = projection.createWriter();
    this.#schema = schema ?? null;
  }

  /** Whether nobody else has written for its partitions, as these rows say. */
  isAsIn(rows: readonly Progress[]): boolean {
    if (!this.isReady) return false;
    const current = new Map(rows.map(({ partition, revision }) => [partition, revision]));
    return this.partitions.every(
      (partition) => current.get(partition) === this.#revisions.get(partition),
    );
  }

  /** Continues from what the rows of its partitions say, if that is new. All have one position. */
  resume(rows: readonly Progress[]): void {
    if (this.isAsIn(rows)) return;
    this.reset();
    this.position = rows[0]?.position ?? this.#start;
    for (const { partition, revision } of rows) this.#revisions.set(partition, revision);
    this.isReady = true;
  }

  /** Forgets everything; `resume` must follow. */
  reset(): void {
    this.#writer.forget();
    this.#clear();
    this.isReady = false;
  }

  collect(blocks: readonly LogBlock<Event>[], next: LogPosition): void {
    const { collected } = this;
    const own: LogBlock<Event>[] = [];
    for (const block of blocks) {
      const { sequence, receivedAt } = block;
      if (collected.blocks === 0) collected.firstSequence = sequence;
      collected.blocks += 1;
      collected.lastSequence = sequence;
      collected.receivedAt = Math.max(collected.receivedAt, receivedAt);
      const events = this.#ownEvents(block);
      collected.events += events.length;
      if (events.length > 0) own.push(events === block.events ? block : { ...block, events });
    }
    if (own.length > 0) this.#writer.collect(own);
    this.position = next;
  }

  #ownEvents({ organizationId, events }: LogBlock<Event>): readonly Event[] {
    const { partitions, projection } = this;
    if (partitions.length === partitionCount) return events;
    if (!isDivided(projection)) {
      return partitions.includes(partitionOf(organizationId)) ? events : [];
    }
    return events.filter((event) =>
      partitions.includes(partitionOf(organizationId, projection.partitionKey?.(event))),
    );
  }

  /**
   * Writes what was collected, and the position with it, in one transaction.
   *
   * It is not retried as `inTransaction` would: what the writer remembers has changed on the way.
   * After a failure call `reset`, and read from where the rows say.
   *
   * @throws OvertakenError
   */
  async write(db: Db): Promise<void> {
    const { projection, partitions } = this;
    const { name } = projection;
    await db.transaction().execute(async (tx) => {
      await preparePass(tx, this.#schema);
      if (!this.isAsIn(await lockPartitions(tx, name, partitions))) throw new OvertakenError(name);
      const { events, receivedAt } = this.collected;
      await this.#writer.write(tx, { partitions, receivedAt });
      await advanceProjection(tx, {
        name,
        partitions,
        position: this.position,
        events,
        receivedAt: receivedAt === 0 ? null : receivedAt,
      });
    });
    for (const [partition, revision] of this.#revisions) {
      this.#revisions.set(partition, revision + 1);
    }
    this.#clear();
  }

  #clear(): void {
    this.collected = { events: 0, blocks: 0, firstSequence: 0, lastSequence: 0, receivedAt: 0 };
  }
}
