/**
 * The rate limit of a key: at most its number of requests in any 60 seconds, across all processes.
 * The counting is in the database function `take_key_allowance` (functions.sql). Requests of one
 * key that arrive during a query are combined into the next, so a busy key costs few statements.
 */
import { sql } from 'kysely';
import { inTransaction, type Db } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/http/errors.ts';
import type { Admit } from '../../platform/http/principal.ts';

const windowSeconds = 60;
/** With more waiting requests per key, requests are rejected: the database is too slow. */
const maxWaiting = 10_000;

type Taken = { granted: number; leftOver: number; retryAfter: number };
type Outcome = { isGranted: boolean; leftOver: number; retryAfter: number };
type Line = { waiting: ((outcome: Promise<Outcome>) => void)[]; isAsking: boolean };

export function createAdmission(db: Db): Admit {
  const lines = new Map<string, Line>();
  return (principal) => {
    const { keyId, rateLimit } = principal;
    if (rateLimit === null || keyId === null) return null;
    return admit(rateLimit, enqueue(db, lines, keyId, rateLimit));
  };
}

async function admit(limit: number, asked: Promise<Outcome>): Promise<Record<string, string>> {
  const { isGranted, leftOver, retryAfter } = await asked;
  const headers = {
    'ratelimit-policy': `"key";q=${limit};w=${windowSeconds}`,
    ratelimit: `"key";r=${leftOver};t=${isGranted ? 1 : retryAfter}`,
  };
  if (isGranted) return headers;
  throw new ApiError('RATE_LIMITED', {
    message: `This key is limited to ${limit} requests in ${windowSeconds} seconds.`,
    headers: { ...headers, 'retry-after': String(Math.max(1, retryAfter)) },
  });
}

function enqueue(db: Db, lines: Map<string, Line>, keyId: string, limit: number): Promise<Outcome> {
  const line = lines.get(keyId) ?? { waiting: [], isAsking: false };
  lines.set(keyId, line);
  if (line.waiting.length >= maxWaiting) throw new ApiError('UNAVAILABLE');
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  line.waiting.push(resolve);
  if (!line.isAsking) void serve(db, lines, keyId, limit, line);
  return promise;
}

async function serve(
  db: Db,
  lines: Map<string, Line>,
  keyId: string,
  limit: number,
  line: Line,
): Promise<void> {
  line.isAsking = true;
  while (line.waiting.length > 0) {
    const asking = line.waiting.splice(0);
    const taken = take(db, keyId, limit, asking.length);
    for (const [place, resolve] of asking.entries()) {
      resolve(
        taken.then(({ granted, leftOver, retryAfter }) => ({
          isGranted: place < granted,
          leftOver,
          retryAfter,
        })),
      );
    }
    // The failure is reported to the requests that asked.
    await taken.catch(() => undefined);
  }
  line.isAsking = false;
  lines.delete(keyId);
}

async function take(db: Db, keyId: string, limit: number, wanted: number): Promise<Taken> {
  return inTransaction(db, async (tx) => {
    const { rows } = await sql<Taken>`
      select granted, left_over as "leftOver", retry_after as "retryAfter"
      from take_key_allowance(${keyId}, ${limit}, ${wanted})`.execute(tx);
    return rows[0] ?? { granted: 0, leftOver: 0, retryAfter: 1 };
  });
}
