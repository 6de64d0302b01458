/**
 * A streaming replica of PostgreSQL that takes expensive reads off the primary.
 *
 *   away ── it answers ──▶ behind ── it has replayed enough ──▶ used ── too far behind ──▶ behind
 *   behind, used ── no answer, or it is no replica ──▶ away
 *
 * 1. While the replica is away or behind, reads go to the primary.
 * 2. Lag is measured by the write-ahead log alone: the replica is as old as the newest position of
 *    the primary that it has replayed. Clocks therefore do not matter. A replica that has lost its
 *    primary falls behind, and one that has not replayed the migrations applied when this process
 *    started is not used.
 * 3. A read that fails on the replica is repeated on the primary: a row may not have arrived yet,
 *    and the replica cancels statements that conflict with its replay.
 * 4. Reads that must see their caller's own writes use the replica only through `upToDate`.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { Client } from 'pg';
import { background, every } from '../async/lifecycle.ts';
import { isDatabaseAway, sqlState } from './database-errors.ts';
import { openDatabase, poolConnection, type Database, type Db } from './database.ts';
import type { DatabaseOptions } from './database.ts';
import { ReplayLag } from './replay-lag.ts';

/** `lagMs` is null if the replica is older than every known position. */
export type ReplicaState =
  | { readonly is: 'used'; readonly lagMs: number | null }
  | { readonly is: 'behind'; readonly lagMs: number | null }
  | { readonly is: 'away'; readonly reason: string };

export type HeavyReads = AsyncDisposable & {
  /**
   * Runs reads on the replica if it is recent enough, otherwise on the primary. `work` must only
   * read: if the replica fails, it runs a second time.
   */
  read<T>(work: (db: Db) => Promise<T>): Promise<T>;
  /**
   * Returns a database that contains everything committed before this call: the replica once it has
   * caught up, otherwise the primary.
   */
  upToDate(): Promise<Db>;
  /** Null if no replica is configured. */
  state(): ReplicaState | null;
};

export type ReplicaOptions = Omit<DatabaseOptions, 'connection' | 'isPooled'> & {
  readonly primary: Db;
  readonly url: string;
  readonly maxLagMs: number;
};

const checkEveryMs = 500;
const answerWithinMs = 2_000;
/** How long `upToDate` waits for the replica. */
const catchUpMs = 2_000;
const catchUpPollMs = 50;

export function withoutReplica(primary: Db): HeavyReads {
  return {
    read: async (work) => work(primary),
    upToDate: async () => primary,
    state: () => null,
    [Symbol.asyncDispose]: async () => undefined,
  };
}

/** Resolves once the replica has been checked for the first time. */
export async function openReplica(options: ReplicaOptions): Promise<HeavyReads> {
  const replica = new ReadReplica(options);
  await replica.check();
  return replica.watched();
}

class ReadReplica implements HeavyReads {
  readonly #options: ReplicaOptions;
  readonly #database: Database;
  readonly #probe: ReplicaProbe;
  readonly #lag = new ReplayLag();
  /** Functions that each fail a read waiting for the replica. */
  readonly #waiting = new Set<(error: Error) => void>();
  #state: ReplicaState = { is: 'away', reason: 'it has not been checked yet' };
  #watch: AsyncDisposable | null = null;

  constructor(options: ReplicaOptions) {
    const { primary: _primary, url, maxLagMs: _maxLagMs, sessionSettings, ...rest } = options;
    this.#options = options;
    this.#database = openDatabase({
      ...rest,
      connection: { url },
      sessionSettings: { ...sessionSettings, default_transaction_read_only: 'on' },
    });
    this.#probe = new ReplicaProbe(url);
  }

  watched(): this {
    const check = () => this.check();
    this.#watch = background(
      'read replica',
      (signal) => every(checkEveryMs, check, signal),
      this.#options.log,
    );
    return this;
  }

  state(): ReplicaState {
    return this.#state;
  }

  async read<T>(work: (db: Db) => Promise<T>): Promise<T> {
    const { primary, log } = this.#options;
    if (this.#state.is !== 'used') return work(primary);
    const lost = Promise.withResolvers<never>();
    this.#waiting.add(lost.reject);
    try {
      return await Promise.race([work(this.#database.db), lost.promise]);
    } catch (error) {
      // A statement that is too slow on one server is too slow on the other, too.
      if (sqlState(error) === queryCancelled) throw error;
      if (isDatabaseAway(error)) log.info({ err: error }, 'read failed on the read replica');
    } finally {
      this.#waiting.delete(lost.reject);
    }
    return work(primary);
  }

  async upToDate(): Promise<Db> {
    const { primary } = this.#options;
    if (this.#state.is !== 'used') return primary;
    const wanted = await readPrimaryPosition(primary);
    const deadline = performance.now() + catchUpMs;
    do {
      const replayed = await this.#probe.replayed().catch(() => null);
      if (replayed === null) return primary;
      if (replayed >= wanted) return this.#database.db;
      await delay(catchUpPollMs);
    } while (performance.now() < deadline);
    return primary;
  }

  /** Asks both servers for their log positions. */
  async check(): Promise<void> {
    const { primary, maxLagMs } = this.#options;
    try {
      // The replica is asked first: it can't be ahead of the position its primary reports
      // afterwards.
      const replayed = await this.#probe.replayed();
      const askedAt = performance.now();
      this.#lag.note(await readPrimaryPosition(primary), askedAt);
      if (this.#lag.isAhead(replayed)) throw new NoReplicaError('it is ahead of the primary');
      const lagMs = this.#lag.of(replayed, performance.now());
      this.#enter({ is: lagMs !== null && lagMs <= maxLagMs ? 'used' : 'behind', lagMs });
    } catch (error) {
      const reason = error instanceof NoReplicaError ? error.message : 'it does not respond';
      this.#enter({ is: 'away', reason });
    }
  }

  #enter(state: ReplicaState): void {
    const { log, maxLagMs } = this.#options;
    const { is: before } = this.#state;
    this.#state = state;
    if (state.is === before) return;
    if (state.is === 'used') {
      log.info({ lagMs: state.lagMs }, 'using the read replica for heavy reads');
    } else if (state.is === 'behind') {
      // Immediately after the start, the lag is not known yet.
      log[state.lagMs === null ? 'info' : 'warn'](
        { lagMs: state.lagMs, maxLagMs },
        'the read replica is too far behind; reading from the primary',
      );
    } else {
      log.warn(
        { reason: state.reason },
        'the read replica is unavailable; reading from the primary',
      );
      for (const fail of this.#waiting) fail(new Error('The read replica is unavailable.'));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#watch?.[Symbol.asyncDispose]();
    await this.#probe[Symbol.asyncDispose]();
    await this.#database[Symbol.asyncDispose]();
  }
}

const queryCancelled = '57014';

/** The server answers, but is not a suitable replica. */
class NoReplicaError extends Error {
  override readonly name = 'NoReplicaError';
}

/**
 * Asks for the replica's position on a separate connection, because expensive reads may occupy all
 * others.
 */
class ReplicaProbe implements AsyncDisposable {
  readonly #url: string;
  #client: Promise<Client> | null = null;

  constructor(url: string) {
    this.#url = url;
  }

  /** @throws NoReplicaError */
  async replayed(): Promise<bigint> {
    try {
      this.#client ??= this.#connect();
      const { rows } = await (
        await this.#client
      ).query<{ position: string | null }>(
        `select case when pg_is_in_recovery()
           then pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::text end as position`,
      );
      const position = rows[0]?.position ?? null;
      if (position === null) throw new NoReplicaError('it is not a streaming replica');
      return BigInt(position);
    } catch (error) {
      await this[Symbol.asyncDispose]();
      throw error;
    }
  }

  async #connect(): Promise<Client> {
    const client = new Client({
      ...poolConnection({ url: this.#url }),
      application_name: 'reelfeed-replica',
      connectionTimeoutMillis: answerWithinMs,
      query_timeout: answerWithinMs,
    });
    client.on('error', () => undefined);
    try {
      await client.connect();
    } catch (error) {
      void client.end().catch(() => undefined);
      throw error;
    }
    return client;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const client = this.#client;
    this.#client = null;
    // Not awaited, because a hung server does not close the connection either.
    void client?.then((connected) => connected.end()).catch(() => undefined);
  }
}

async function readPrimaryPosition(primary: Db): Promise<bigint> {
  const { rows } = await sql<{ position: string }>`
    select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::text as position`.execute(primary);
  return BigInt(rows[0]?.position ?? 0);
}

export function describeReplica(state: ReplicaState): string {
  if (state.is === 'away') return `away (${state.reason}): reading from the primary`;
  const age = state.lagMs === null ? 'by an unknown time' : `${(state.lagMs / 1_000).toFixed(1)} s`;
  return state.is === 'used'
    ? `used, at most ${age} behind`
    : `behind ${age}: reading from the primary`;
}

/** Checks a replica's position once. */
export async function examineReplica(url: string): Promise<{ problem: string | null }> {
  await using probe = new ReplicaProbe(url);
  try {
    await probe.replayed();
    return { problem: null };
  } catch (error) {
    return { problem: error instanceof NoReplicaError ? error.message : 'it does not respond' };
  }
}
