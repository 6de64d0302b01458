/**
 * Partitions of a projection at the same position as they move along the log: what was read for
 * them, and how much of it has been written.
 */
import type { Db } from '../database/database.ts';
import type { LogBlock, LogPosition } from '../event-log/event-log.ts';
import { everyPartition, partitionCount, partitionOf } from './partitions.ts';
import { isDivided, type Projection, type ProjectionWriter } from './projection.ts';
import { advanceProjection, lockPartitions, preparePass, type Progress } from './queries.ts';

/** Another process has written for the projection since its rows were read. */
export class OvertakenError extends Error {
  override readonly name = 'OvertakenError';

  constructor(projection: string) {
    super(`another writer has moved the projection ${projection}`);
  }
}

type RunOptions = {
  /** Ascending; default: all. */
  readonly partitions?: readonly number[];
  /** The schema of its tables, if they are not the live ones. */
  readonly schema?: string | null;
};

export class ProjectionRun<Event> {
  readonly projection: Projection<Event>;
  readonly partitions: readonly number[];
  /** Everything before this position has been collected or written. */
  position: LogPosition;
  /**
   * Collected but not yet written. Blocks are those of the log, events those of these partitions.
   */
  collected = { events: 0, blocks: 0, firstSequence: 0, lastSequence: 0, receivedAt: 0 };
  /** False before the first `resume`, and while the contents of its rows are unknown. */
  isReady = false;
  readonly #writer: ProjectionWriter<Event>;
  readonly #start: LogPosition;
  readonly #schema: string | null;
  /** The revisions last read or written by this run, by partition. */
  readonly #revisions = new Map<number, number>();

  /** @param start the start of the log */
  constructor(
    projection: Projection<Event>,
    start: LogPosition,
    { partitions = everyPartition, schema = null }: RunOptions = {},
  ) {
    this.projection = projection;
    this.partitions = partitions;
    this.position = start;
    this.#start = start;
    this.#writer = projection.createWriter();
    this.#schema = schema;
  }

  /** Whether, according to these rows, nobody else has written for its partitions. */
  isAsIn(rows: readonly Progress[]): boolean {
    if (!this.isReady) return false;
    const current = new Map(rows.map(({ partition, revision }) => [partition, revision]));
    return this.partitions.every(
      (partition) => current.get(partition) === this.#revisions.get(partition),
    );
  }

  /**
   * Continues from the rows of its partitions, if they are new. All rows must have the same
   * position.
   */
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
   * Writes what was collected, together with the position, in one transaction.
   *
   * Unlike `inTransaction`, this does not retry, because the writer's memory has changed in the
   * process. After a failure, call `reset` and read from the position in the rows.
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
