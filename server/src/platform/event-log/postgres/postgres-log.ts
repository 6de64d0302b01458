/** The event log in PostgreSQL: a table of blocks, partitioned by day. See position.ts for reading. */
import {
  dropOldDays,
  prepareDayPartitions,
  wholeDays,
  type DailyTable,
} from '../../database/day-partitions.ts';
import { inTransaction, type Db } from '../../database/database.ts';
import { currentSnapshot } from '../../database/snapshots.ts';
import { hourMs } from '../../time.ts';
import { encodeBlock, withoutPlaces } from '../block-codec.ts';
import type { AddedBlock, BlockDraft, EventLog, LogEntry } from '../event-log.ts';
import { ledgerKeys } from '../ledger/ledger-keys.ts';
import {
  forgetEventKey,
  leastKeyAgeHours,
  measureLedger,
  rotateKeys,
} from '../ledger/ledger-queries.ts';
import type { RecentBlocks } from '../recent-blocks.ts';
import { insertBlocks } from './append-queries.ts';
import { countEvents, measureBacklog, measureLag, readFirstDay } from './backlog.ts';
import { joinOldBlocks } from './join.ts';
import { readLog, scanLog } from './pages.ts';
import {
  betweenSteps,
  comparePositions,
  parsePosition,
  startAt,
  startOfLog,
  type PostgresPosition,
} from './position.ts';
import { rewritePage } from './rewrite.ts';
import { completeTenantIndex } from './tenant-index.ts';

export type PostgresLogOptions<Event> = {
  readonly db: Db;
  /** Blocks that this process has appended, which need not be fetched. */
  readonly recent?: RecentBlocks<Event>;
};

const table: DailyTable = { name: 'event_block', column: 'received_at' };

export function createPostgresLog<Event extends LogEntry>({
  db,
  recent,
}: PostgresLogOptions<Event>): EventLog<Event> {
  const prepare = () => prepareDayPartitions(db, [table]);
  return {
    start: startOfLog,
    since: (receivedAtMs) => ({ ...startOfLog, receivedFromMs: receivedAtMs }),
    end: () => endOfLog(db),
    positionAt: async (timeMs) => startAt(timeMs),
    compare: (one, other) => comparePositions(parsePosition(one), parsePosition(other)),
    append: (drafts) => appendToLog(db, drafts, recent),
    read: (from, limits) => readLog(db, from, limits, recent),
    scan: (from, limits) => scanLog(db, from, limits, recent),
    backlog: (position) => measureBacklog(db, parsePosition(position)),
    lagMs: (position) => measureLag(db, parsePosition(position)),
    countEvents: () => countEvents(db),
    firstDay: () => readFirstDay(db),
    rewrite: (from, limits, edit) =>
      inTransaction(db, (tx) => rewritePage<Event>(tx, from, limits, edit)),
    async expire(retentionMs, signal) {
      await inTransaction(db, (tx) => rotateKeys(tx, leastKeyAgeHours));
      await dropOldDays(db, table, wholeDays(retentionMs), signal);
    },
    forgetId: forgetEventKey,
    measureLedger: () => measureLedger(db),
    prepare,
    upkeep: [
      { name: 'prepare event partitions', intervalMs: hourMs, run: prepare },
      {
        name: 'complete the index of the event log',
        intervalMs: hourMs,
        run: (signal) => completeTenantIndex(db, signal),
      },
      {
        name: 'join old event blocks',
        intervalMs: 60_000,
        run: (signal) => joinOldBlocks(db, signal),
      },
    ],
  };
}

/** Behind everything that is in the log now. */
async function endOfLog(db: Db): Promise<PostgresPosition> {
  const { snapshot, nowMs } = await currentSnapshot(db);
  return betweenSteps(snapshot, nowMs);
}

/**
 * Adds events to the log in one statement, unless their ids are in the ledger already.
 *
 * @returns what became of each block, in the order of `drafts`
 */
async function appendToLog<Event extends LogEntry>(
  db: Db,
  drafts: readonly BlockDraft<Event>[],
  recent?: RecentBlocks<Event>,
): Promise<AddedBlock[]> {
  const encoded = await Promise.all(drafts.map(({ events }) => encodeBlock(events)));
  const blocks = drafts.map(({ organizationId, events }, index) => ({
    organizationId,
    eventCount: events.length,
    bytes: encoded[index] ?? Buffer.alloc(0),
  }));
  const added = await insertBlocks(db, blocks, ledgerKeys(drafts));
  for (const [index, { sequence, leftOut }] of added.entries()) {
    const events = drafts[index]?.events;
    if (sequence !== null && events !== undefined) {
      recent?.add(sequence, withoutPlaces(events, leftOut));
    }
  }
  return added;
}
