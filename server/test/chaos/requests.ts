/**
 * Requests during faults: each must end in time with an envelope, and only certain errors are
 * acceptable.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Data } from '../world/ask.ts';

/** Maximum duration of any request: statements time out after 30 s, locks after 10 s. */
const hangMs = 45_000;
/** Acceptable responses while the database is away or the service is overloaded. */
const rightRefusals = new Set([408, 409, 429, 503]);

export type Tally = { requests: number; succeeded: number; refused: number; slowestMs: number };

export type Answer = { status: number; data: Data; meta: Data };

export class Requests {
  readonly tallies = new Map<string, Tally>();
  /** Failures that no fault excuses. */
  readonly violations: string[] = [];
  readonly #urls: readonly string[];
  readonly #key: string;
  /** Number of rejections per client, by status, code and current fault. */
  readonly refusals = new Map<string, number>();
  /** The current fault, for the report. */
  during = 'calm';
  #turn = 0;

  constructor(urls: readonly string[], key: string) {
    this.#urls = urls;
    this.#key = key;
  }

  /** The address of the next process, round-robin. */
  #nextUrl(): string {
    this.#turn += 1;
    return this.#urls[this.#turn % this.#urls.length] ?? '';
  }

  /** Sends one request to one of the processes. Returns null if it was rejected or broke. */
  async send(client: string, method: string, path: string, body?: object): Promise<Answer | null> {
    const tally = this.#tallyOf(client);
    tally.requests += 1;
    const startedAt = performance.now();
    const what = `${method} ${path.split('?')[0]} during "${this.during}"`;
    const isBytes = body instanceof Uint8Array;
    try {
      const answer = await fetch(this.#nextUrl() + path, {
        method,
        headers: {
          authorization: `Bearer ${this.#key}`,
          ...(body !== undefined && !isBytes && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: isBytes ? new Uint8Array(body) : JSON.stringify(body) }),
        signal: AbortSignal.timeout(hangMs),
      });
      const text = await answer.text();
      const parsed = parse(text);
      if (parsed?.meta?.requestId === undefined) {
        this.violations.push(
          `${what}: ${answer.status} without an envelope: ${text.slice(0, 200)}`,
        );
      }
      if (answer.ok) {
        tally.succeeded += 1;
        return { status: answer.status, data: parsed?.data, meta: parsed?.meta };
      }
      tally.refused += 1;
      const why = `${client}: ${answer.status} ${parsed?.error?.code} during ${this.during}`;
      this.refusals.set(why, (this.refusals.get(why) ?? 0) + 1);
      if (!rightRefusals.has(answer.status)) {
        this.violations.push(`${what}: ${answer.status} ${text.slice(0, 300)}`);
      }
      if (answer.status === 503 && answer.headers.get('retry-after') === null) {
        this.violations.push(`${what}: 503 without Retry-After`);
      }
      return null;
    } catch (error) {
      const ms = Math.round(performance.now() - startedAt);
      const cause = (error as Error).cause ?? error;
      this.violations.push(`${what}: no answer after ${ms} ms: ${String(cause)}`);
      // Otherwise a dead process would be asked thousands of times per second.
      await delay(500);
      return null;
    } finally {
      tally.slowestMs = Math.max(tally.slowestMs, Math.round(performance.now() - startedAt));
    }
  }

  #tallyOf(client: string): Tally {
    const known = this.tallies.get(client);
    if (known !== undefined) return known;
    const tally = { requests: 0, succeeded: 0, refused: 0, slowestMs: 0 };
    this.tallies.set(client, tally);
    return tally;
  }
}

function parse(text: string): Data {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
