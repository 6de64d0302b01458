import type { Logger } from 'pino';
import type { Db } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/http/errors.ts';
import type { OrganizationId } from '../../platform/ids.ts';
import { background, sleep } from '../../platform/lifecycle.ts';
import { OrganizationIndex } from './organization-index.ts';
import {
  loadMembers,
  readChanges,
  readMoment,
  type ChangePosition,
  type Moment,
} from './queries.ts';

/** Changes of other processes are seen after this long at most. */
const pollIntervalMs = 250;
const changesAtOnce = 5_000;
/** Without contact for this long, an item might be shown that was taken back meanwhile. */
const staleAfterMs = 5_000;
const forgetAfterMs = 30 * 60_000;

type Known = { index: OrganizationIndex; usedAt: number };

/** An organization's index and the moment to judge schedules by, on the database's clock. */
export type FeedView = { index: OrganizationIndex; nowMs: number };

export type FeedIndex = AsyncDisposable & {
  /** @throws ApiError UNAVAILABLE when the database was out of reach for too long */
  view(organizationId: OrganizationId): Promise<FeedView>;
  /** Tells that this process has committed a change: the next view contains it. */
  markChanged(): void;
};

/**
 * The items that may be shown, in memory, for each organization that is asked for. It tails the
 * changes of the content table, so every process of a cluster sees them within a second, and the
 * one that made a change sees it at once.
 */
export function startFeedIndex(db: Db, log: Logger): FeedIndex {
  const known = new Map<OrganizationId, Known>();
  let seen: (Moment & { readAt: number }) | null = null;
  let changes = 0;
  let appliedChanges = 0;
  // Loads and refreshes run one after another, so that none applies an older state than the last.
  let turn: Promise<unknown> = Promise.resolve();

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = turn.then(work);
    turn = result.catch(() => undefined);
    return result;
  }

  async function refresh(): Promise<void> {
    const upTo = changes;
    const moment = await readMoment(db);
    const readAt = performance.now();
    if (seen !== null && known.size > 0) await applyChanges(seen.snapshot);
    seen = { ...moment, readAt };
    appliedChanges = Math.max(appliedChanges, upTo);
  }

  async function applyChanges(sinceSnapshot: string): Promise<void> {
    let after: ChangePosition | null = null;
    for (;;) {
      const page = await readChanges(db, sinceSnapshot, [...known.keys()], {
        after,
        limit: changesAtOnce,
      });
      for (const [organizationId, items] of Map.groupBy(
        page.items,
        (item) => item.organizationId,
      )) {
        known.get(organizationId as OrganizationId)?.index.apply(items);
      }
      if (page.items.length < changesAtOnce) return;
      after = page.last;
    }
  }

  async function load(organizationId: OrganizationId): Promise<void> {
    if (known.has(organizationId)) return;
    if (seen === null) await refresh();
    const index = new OrganizationIndex(await loadMembers(db, organizationId));
    known.set(organizationId, { index, usedAt: performance.now() });
  }

  function forgetUnused(): void {
    const limit = performance.now() - forgetAfterMs;
    for (const [organizationId, { usedAt }] of known) {
      if (usedAt < limit) known.delete(organizationId);
    }
  }

  const polling = background(
    'feed index',
    async (signal) => {
      while (!signal.aborted) {
        await sleep(pollIntervalMs, signal);
        if (known.size === 0) continue;
        await inTurn(refresh);
        forgetUnused();
      }
    },
    log,
  );

  return {
    async view(organizationId) {
      if (!known.has(organizationId)) await inTurn(() => load(organizationId));
      if (appliedChanges < changes)
        await inTurn(() => (appliedChanges < changes ? refresh() : done));
      const entry = known.get(organizationId);
      if (entry === undefined || seen === null) throw new ApiError('UNAVAILABLE');
      const nowPerformance = performance.now();
      const ageMs = nowPerformance - seen.readAt;
      if (ageMs > staleAfterMs) throw new ApiError('UNAVAILABLE');
      entry.usedAt = nowPerformance;
      return { index: entry.index, nowMs: seen.nowMs + ageMs };
    },
    markChanged() {
      changes += 1;
    },
    [Symbol.asyncDispose]: () => polling[Symbol.asyncDispose](),
  };
}

const done = Promise.resolve();
