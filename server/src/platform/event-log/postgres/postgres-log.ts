/**
 * The event log in PostgreSQL: a table of blocks, partitioned by day. See position.ts for reading.
 * With a stream, the table holds the places of the bytes instead of the bytes.
 */
import {
  dropOldDays,
  prepareDayPartitions,
  wholeDays,
  type DailyTable,
} from '../../database/day-partitions.ts';
import { inTransaction, type DatabaseConnection, type Db } from '../../database/database.ts';
import { currentSnapshot } from '../../database/snapshots.ts';
import type { ElectedChore } from '../../leases/elected-chore.ts';
import { hourMs } from '../../values/time.ts';
import { encodeBlock, withoutPlaces } from '../block-codec.ts';
import { dayOf, type BlockStream, type BytesToStore } from '../block-stream.ts';
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
import { countLoggedEvents, measureBacklog, measureLag, readFirstDay } from './backlog.ts';
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
import type { LogSource } from './source.ts';
import { addGarbage } from './stream-queries.ts';
import { bindStream, expireMessages, findLostMessages, removeGarbage } from './stream-upkeep.ts';
import { completeTenantIndex } from './tenant-index.ts';

export type PostgresLogOptions<Event> = {
  readonly db: Db;
  /** Blocks that this process has appended, which it need not fetch. */
  readonly recent?: RecentBlocks<Event>;
  /**
   * For maintenance that needs a dedicated session. Without it, other processes must do that work.
   */
  readonly connection?: DatabaseConnection;
  /** Holds the bytes of new blocks. Without it, the table holds them. */
  readonly stream?: BlockStream | null;
};

const table: DailyTable = { name: 'event_block', column: 'received_at' };

export function createPostgresLog<Event extends LogEntry>({
  db,
  connection,
  recent,
  stream = null,
}: PostgresLogOptions<Event>): EventLog<Event> {
  const source: LogSource<Event> = { db, stream, recent: recent ?? null };
  const preparePartitions = () => prepareDayPartitions(db, [table]);
  return {
    start: startOfLog,
    since: (receivedAtMs) => ({ ...startOfLog, receivedFromMs: receivedAtMs }),
    end: () => endOfLog(db),
    positionAt: async (timeMs) => startAt(timeMs),
    compare: (one, other) => comparePositions(parsePosition(one), parsePosition(other)),
    append: (drafts) => appendToLog(source, drafts),
    read: (from, limits) => readLog(source, from, limits),
    scan: (from, limits) => scanLog(source, from, limits),
    backlog: (position) => measureBacklog(db, parsePosition(position)),
    lagMs: (position) => measureLag(db, parsePosition(position)),
    countEvents: () => countLoggedEvents(db),
    firstDay: () => readFirstDay(db),
    async rewrite(from, limits, edit) {
      const page = await inTransaction(db, (tx) =>
        rewritePage<Event>(tx, stream, from, limits, edit),
      );
      // Once this resolves, the removed events are gone.
      if (stream !== null) await removeGarbage(db, stream, new AbortController().signal);
      return page;
    },
    async expire(retentionMs, signal) {
      await inTransaction(db, (tx) => rotateKeys(tx, leastKeyAgeHours));
      await dropOldDays(db, table, wholeDays(retentionMs), signal);
      if (stream !== null) await expireMessages(stream, wholeDays(retentionMs));
    },
    forgetId: forgetEventKey,
    measureLedger: () => measureLedger(db),
    async prepare() {
      await preparePartitions();
      if (stream !== null) await bindStream(db, stream);
    },
    upkeep: [
      { name: 'prepare event partitions', intervalMs: hourMs, run: preparePartitions },
      ...(connection === undefined ? [] : [indexUpkeep(db, connection)]),
      {
        name: 'join old event blocks',
        intervalMs: 60_000,
        run: (signal) => joinOldBlocks(source, signal),
      },
      ...(stream === null ? [] : [streamUpkeep(db, stream)]),
    ],
  };
}

function indexUpkeep(db: Db, connection: DatabaseConnection): ElectedChore {
  return {
    name: 'complete the index of the event log',
    intervalMs: hourMs,
    run: (signal) => completeTenantIndex(db, connection, signal),
  };
}

function streamUpkeep(db: Db, stream: BlockStream): ElectedChore {
  return {
    name: 'tidy up the stream of the event log',
    intervalMs: 60_000,
    async run(signal) {
      await findLostMessages(db, stream);
      await removeGarbage(db, stream, signal);
    },
  };
}

/** The position after everything that is in the log now. */
async function endOfLog(db: Db): Promise<PostgresPosition> {
  const { snapshot, nowMs } = await currentSnapshot(db);
  return betweenSteps(snapshot, nowMs);
}

/**
 * Adds events to the log in one statement, unless their ids are already in the ledger. With a
 * stream, their bytes are stored there first.
 *
 * @returns the outcome of each block, in the order of `drafts`
 */
async function appendToLog<Event extends LogEntry>(
  { db, stream, recent }: LogSource<Event>,
  drafts: readonly BlockDraft<Event>[],
): Promise<AddedBlock[]> {
  const encoded = await Promise.all(drafts.map(({ events }) => encodeBlock(events)));
  const places = stream === null ? [] : await stream.store(toStore(drafts, encoded));
  const blocks = drafts.map(({ organizationId, events }, index) => {
    const place = places[index] ?? null;
    const bytes = place === null ? encoded[index] : undefined;
    return {
      organizationId,
      eventCount: events.length,
      bytes: bytes ?? Buffer.alloc(0),
      place,
    };
  });
  const added = await insertBlocks(db, blocks, ledgerKeys(drafts));
  for (const [index, { sequence, leftOut }] of added.entries()) {
    const events = drafts[index]?.events;
    if (sequence !== null && events !== undefined) {
      recent?.add(sequence, withoutPlaces(events, leftOut));
    }
  }
  const unnamed = added.flatMap(({ sequence }, index) =>
    sequence === null ? (places[index]?.sequence ?? []) : [],
  );
  await addGarbage(db, unnamed);
  return added;
}

function toStore(
  drafts: readonly BlockDraft<LogEntry>[],
  encoded: readonly Buffer[],
): BytesToStore[] {
  const today = dayOf(Date.now());
  return drafts.map(({ organizationId }, index) => ({
    organizationId,
    dayMs: today,
    bytes: encoded[index] ?? Buffer.alloc(0),
  }));
}
