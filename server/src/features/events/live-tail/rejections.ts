/**
 * Passes rejected events to the live tail of every process: a sample of this process's rejections
 * is written to a small table every half second. They are stored nowhere else; losing some in a
 * crash only costs lines in someone's terminal.
 */
import type { Logger } from 'pino';
import { BatchWriter } from '../../../platform/async/batch-writer.ts';
import type { Db } from '../../../platform/database/database.ts';
import { badText, isRecord } from '../intake/event-data.ts';
import type { EventProblem } from '../intake/event-problem.ts';
import { insertRejections, type NewRejection } from './rejection-queries.ts';

/** As sent by the live tail. */
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
/** Per organization and half second. */
const maxSampled = 20;
const maxOrganizations = 200;

type Sampled = { readonly organizationId: string; readonly rejection: string };

export class Rejections implements AsyncDisposable {
  readonly #db: Db;
  readonly #writer: BatchWriter<Sampled>;
  /** Per organization, between two writes. */
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
      // An organization's first row carries the number of skipped events.
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

/** The original text, if it is short and can be stored. */
function shown(value: unknown): string | null {
  return typeof value === 'string' && value.length <= 256 && badText(value) === null ? value : null;
}
