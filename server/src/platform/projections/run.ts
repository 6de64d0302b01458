/** One projection on its way along the log: what it has read, and what of that it has written. */
import type { Db } from '../database/database.ts';
import type { LogBlock, LogPosition } from '../event-log/event-log.ts';
import type { Projection, ProjectionWriter } from './projection.ts';
import { advanceProjection, lockProjection, preparePass, type Progress } from './queries.ts';

/** Somebody else has written for the projection since it was read. */
export class OvertakenError extends Error {
  override readonly name = 'OvertakenError';

  constructor(projection: string) {
    super(`another writer has moved the projection ${projection}`);
  }
}

export class ProjectionRun<Event> {
  readonly projection: Projection<Event>;
  /** Everything before it was collected or written. */
  position: LogPosition;
  /** Collected and not written yet. */
  collected = { events: 0, blocks: 0, firstSequence: 0, lastSequence: 0, receivedAt: 0 };
  /** False before the first `resume`, and when nobody can say what its rows are. */
  isReady = false;
  readonly #writer: ProjectionWriter<Event>;
  readonly #start: LogPosition;
  readonly #schema: string | null;
  #revision = -1;

  /**
   * @param start of the log
   * @param schema where its tables are, unless they are the ones that everybody reads
   */
  constructor(projection: Projection<Event>, start: LogPosition, schema: string | null = null) {
    this.projection = projection;
    this.position = start;
    this.#start = start;
    this.#writer = projection.createWriter();
    this.#schema = schema;
  }

  /** Continues from what the row of the projection says, if that is new. */
  resume({ position, revision }: Omit<Progress, 'name'>): void {
    if (this.isReady && revision === this.#revision) return;
    this.reset();
    this.position = position ?? this.#start;
    this.#revision = revision;
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
    for (const { events, sequence, receivedAt } of blocks) {
      if (collected.blocks === 0) collected.firstSequence = sequence;
      collected.blocks += 1;
      collected.events += events.length;
      collected.lastSequence = sequence;
      collected.receivedAt = Math.max(collected.receivedAt, receivedAt);
    }
    this.#writer.collect(blocks);
    this.position = next;
  }

  /**
   * Writes what was collected, and the position with it, in one transaction.
   *
   * It is not retried as `inTransaction` would: what the writer remembers has changed on the way.
   * After a failure call `reset`, and read from where the row says.
   *
   * @throws OvertakenError
   */
  async write(db: Db): Promise<void> {
    const { name } = this.projection;
    await db.transaction().execute(async (tx) => {
      await preparePass(tx, this.#schema);
      const locked = await lockProjection(tx, name);
      if (locked?.revision !== this.#revision) throw new OvertakenError(name);
      await this.#writer.write(tx);
      const { events, receivedAt } = this.collected;
      await advanceProjection(tx, {
        name,
        position: this.position,
        events,
        receivedAt: receivedAt === 0 ? null : receivedAt,
      });
    });
    this.#revision += 1;
    this.#clear();
  }

  #clear(): void {
    this.collected = { events: 0, blocks: 0, firstSequence: 0, lastSequence: 0, receivedAt: 0 };
  }
}
