/**
 * Rejected events on their way to the live tail of every process: a sample of what this process
 * rejects is written to a small table each half second. They are never stored otherwise, and losing
 * some in a crash loses nothing but a line in somebody's terminal.
 */
import type { Logger } from 'pino';
import { BatchWriter } from '../../../platform/batch-writer.ts';
import type { Db } from '../../../platform/database/database.ts';
import { badText, isRecord } from '../intake/event-data.ts';
import type { EventProblem } from '../intake/event-problem.ts';
import { insertRejections, type NewRejection } from './rejection-queries.ts';

/** As the live tail sends it. */
export type Rejection = {
  readonly status: 'rejected';
  readonly receivedAt: string;
  readonly eventId: string | null;
  readonly event: string | null;
  readonly contentId: string | null;
  readonly userId: string | null;
  readonly code: string;
  readonly message: string;
};

const writeEveryMs = 500;
/** Of each organization in each half second. */
const maxSampled = 20;
const maxOrganizations = 200;

type Sampled = { readonly organizationId: string; readonly rejection: string };

export class Rejections implements AsyncDisposable {
  readonly #db: Db;
  readonly #writer: BatchWriter<Sampled>;
  /** Of each organization, between two writes. */
  #counts = new Map<string, { sampled: number; skipped: number }>();

  constructor(db: Db, log: Logger) {
    this.#db = db;
    this.#writer = new BatchWriter({
      name: 'rejected events',
      log,
      onFailure: 'drop',
      lingerMs: writeEveryMs,
      maxBatch: maxOrganizations * maxSampled,
      write: (batch) => this.#write(batch),
    });
  }

  add(organizationId: string, raw: unknown, problem: EventProblem): void {
    let counts = this.#counts.get(organizationId);
    if (counts === undefined) {
      if (this.#counts.size >= maxOrganizations) return;
      this.#counts.set(organizationId, (counts = { sampled: 0, skipped: 0 }));
    }
    if (counts.sampled >= maxSampled) counts.skipped += 1;
    else {
      counts.sampled += 1;
      this.#writer.add({ organizationId, rejection: JSON.stringify(describe(raw, problem)) });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writer[Symbol.asyncDispose]();
  }

  async #write(batch: readonly Sampled[]): Promise<void> {
    const counts = this.#counts;
    this.#counts = new Map();
    const rows: NewRejection[] = [];
    for (const sampled of batch) {
      // The first row of an organization says how many have none.
      rows.push({ ...sampled, skipped: counts.get(sampled.organizationId)?.skipped ?? 0 });
      counts.delete(sampled.organizationId);
    }
    await insertRejections(this.#db, rows);
  }
}

function describe(raw: unknown, { code, message }: EventProblem): Rejection {
  const event = isRecord(raw) ? raw : {};
  return {
    status: 'rejected',
    receivedAt: new Date().toISOString(),
    eventId: shown(event['eventId']),
    event: shown(event['event']),
    contentId: shown(event['contentId']),
    userId: shown(event['userId']),
    code,
    message,
  };
}

/** Text as it was sent, when it is short and can be stored. */
function shown(value: unknown): string | null {
  return typeof value === 'string' && value.length <= 256 && badText(value) === null ? value : null;
}
