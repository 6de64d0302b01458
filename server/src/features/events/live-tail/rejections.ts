/**
 * Rejected events on their way to the live tail of every process: a sample of what this process
 * rejects is written to a small table each half second. They are never stored otherwise, and losing
 * some in a crash loses nothing but a line in somebody's terminal.
 */
import type { Logger } from 'pino';
import { background, every } from '../../../platform/lifecycle.ts';
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

export class Rejections implements AsyncDisposable {
  readonly #samples = new Map<string, { lines: string[]; skipped: number }>();
  readonly #loop: AsyncDisposable;
  readonly #db: Db;

  constructor(db: Db, log: Logger) {
    this.#db = db;
    this.#loop = background(
      'rejected events',
      (signal) => every(writeEveryMs, () => this.#write(), signal),
      log,
    );
  }

  add(organizationId: string, raw: unknown, problem: EventProblem): void {
    let sample = this.#samples.get(organizationId);
    if (sample === undefined) {
      if (this.#samples.size >= maxOrganizations) return;
      this.#samples.set(organizationId, (sample = { lines: [], skipped: 0 }));
    }
    if (sample.lines.length >= maxSampled) sample.skipped += 1;
    else sample.lines.push(JSON.stringify(describe(raw, problem)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#loop[Symbol.asyncDispose]();
  }

  async #write(): Promise<void> {
    if (this.#samples.size === 0) return;
    const rows: NewRejection[] = [];
    for (const [organizationId, { lines, skipped }] of this.#samples) {
      for (const [index, rejection] of lines.entries()) {
        rows.push({ organizationId, rejection, skipped: index === 0 ? skipped : 0 });
      }
    }
    this.#samples.clear();
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
