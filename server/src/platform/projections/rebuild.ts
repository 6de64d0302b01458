/**
 * Rebuilds a projection from the event log, beside the running service:
 *
 *   empty copies of its tables in a schema of their own → the whole log into the copies
 *   → the copies replace the tables, in one transaction
 *
 * Until that transaction, everybody reads the old tables and the projectors keep them up to date;
 * then they continue with the new ones, from the position that the rebuild has reached.
 *
 * 1. Any number of processes fill the copies by partition: see rebuild-filler.ts. A process joins a
 *    rebuild that is running, unless it would fill the copies differently: then it starts over, and
 *    the others fail. A rebuild that all processes have left is started over, too.
 * 2. Erasures and purges also change the copies, and make the processes that fill them read again
 *    from the last committed position: see upkeep.ts. So a rebuild never brings back an erased
 *    viewer.
 *
 * The log does not keep everything forever. How to handle days that it has lost is up to the
 * projection: see `RebuildPlan`.
 */
import { inTransaction, type Db } from '../database/database.ts';
import { sleep } from '../async/lifecycle.ts';
import type { EventLog, LogEntry } from '../event-log/event-log.ts';
import { deleteLeases, readLeases } from '../leases/leases.ts';
import { PartitionLeases } from './partition-leases.ts';
import { everyPartition } from './partitions.ts';
import type { Projection, RebuildPlan } from './projection.ts';
import {
  advanceProjection,
  insertProjections,
  interruptProjections,
  lockProjections,
} from './queries.ts';
import { RebuildFiller } from './rebuild-filler.ts';
import {
  beginFilling,
  findCopies,
  findRebuild,
  lockRebuilds,
  readFillProgress,
} from './rebuild-progress.ts';
import { createCopies, dropCopies, schemaOfCopies } from './rebuild-queries.ts';

export type RebuildProgress = {
  readonly projection: string;
  /** Events that all processes together have counted. */
  readonly events: number;
  /** Events in the log when the rebuild began. */
  readonly total: number;
};

export type RebuildOptions<Event extends LogEntry> = {
  readonly db: Db;
  readonly eventLog: EventLog<Event>;
  readonly onProgress?: (progress: RebuildProgress) => void;
  readonly signal: AbortSignal;
  /** Processes with the same edition fill tables equally, and may work on one rebuild. */
  readonly edition?: string;
  /** For tests: the number of events after which a pass is written. */
  readonly eventsOfPass?: number;
  /** For tests: the time after which others take over the partitions of a process that is gone. */
  readonly leaseMs?: number;
};

const defaultLeaseMs = 10_000;
const pollMs = 200;

/** @throws if a rebuild with other code or settings has taken over */
export async function rebuildProjection<Event extends LogEntry>(
  projection: Projection<Event>,
  options: RebuildOptions<Event>,
): Promise<void> {
  const { name, rebuild: plan } = projection;
  const { db, signal } = options;
  await inTransaction(db, (tx) => insertProjections(tx, [name]));
  if (plan.from === 'now') return startFromNow(name, plan, options);
  for (;;) {
    signal.throwIfAborted();
    const entered = await enter(projection, options);
    if (entered !== null && (await takePart(projection, options, entered))) return;
    await sleep(pollMs, signal);
  }
}

async function startFromNow<Event extends LogEntry>(
  name: string,
  plan: Extract<RebuildPlan, { from: 'now' }>,
  { db, eventLog }: RebuildOptions<Event>,
): Promise<void> {
  const position = await eventLog.end();
  await inTransaction(db, async (tx) => {
    await interruptProjections(tx, [{ name }]);
    await plan.clear(tx);
    const partitions = everyPartition;
    await advanceProjection(tx, { name, partitions, position, events: 0, receivedAt: null });
  });
}

type Entered = {
  readonly id: number;
  readonly leases: PartitionLeases;
  /** The revision of the created rows; null if another process has created them. */
  readonly created: number | null;
};

/** Joins or starts a rebuild. @returns null while another process prepares it */
async function enter<Event extends LogEntry>(
  projection: Projection<Event>,
  { db, edition = '', leaseMs = defaultLeaseMs }: RebuildOptions<Event>,
): Promise<Entered | null> {
  const { name } = projection;
  return inTransaction(db, async (tx) => {
    await lockRebuilds(tx, name);
    const found = await findRebuild(tx, projection);
    if (found?.edition === edition) {
      const leases = new PartitionLeases(leaseMs, leaseNames(name, found.id));
      const present = await readLeases(tx, leaseNames(name, found.id).presence);
      if (present.size > 0 && found.aim === null) return null;
      if (present.size > 0) {
        await leases.arrive(tx);
        return { id: found.id, leases, created: null };
      }
    }
    // An erasure that does not know the copies yet must end before rows are carried over.
    await lockProjections(tx, [{ name }]);
    const created = await createCopies(tx, projection, edition);
    await deleteLeases(tx, leasePrefix(name));
    const id = (await findCopies(tx, projection)) ?? 0;
    const leases = new PartitionLeases(leaseMs, leaseNames(name, id));
    await leases.arrive(tx);
    return { id, leases, created };
  });
}

function leasePrefix(name: string): string {
  return `rebuild ${name} `;
}

function leaseNames(name: string, id: number) {
  const prefix = `${leasePrefix(name)}${id}`;
  return { presence: `${prefix} by `, partition: `${prefix} partition ` };
}

/** @returns false if the rebuild must be started over, because something was erased early on */
async function takePart<Event extends LogEntry>(
  projection: Projection<Event>,
  options: RebuildOptions<Event>,
  { id, leases, created }: Entered,
): Promise<boolean> {
  const filler = new RebuildFiller(projection, options, { id, leases });
  try {
    await using _attendance = await filler.attend(options.leaseMs ?? defaultLeaseMs);
    if (created !== null && !(await prepare(projection, options, { id, revision: created }))) {
      if ((await readFillProgress(options.db, projection, id)) !== null) return false;
    }
    await filler.run();
    return true;
  } finally {
    await leave(projection, options, { id, leases });
  }
}

/** Fills in what the log has lost. @returns whether filling may begin */
async function prepare<Event extends LogEntry>(
  projection: Projection<Event>,
  { db, eventLog, signal }: RebuildOptions<Event>,
  created: { readonly id: number; readonly revision: number },
): Promise<boolean> {
  const { name, rebuild: plan } = projection;
  const firstDayMs = await eventLog.firstDay();
  const schema = schemaOfCopies(name);
  if (plan.from === 'log') await plan.carryOver?.({ db, schema, firstDayMs, signal });
  const aim = await eventLog.end();
  return inTransaction(db, (tx) => beginFilling(tx, projection, { ...created, aim, firstDayMs }));
}

/** The last process to leave removes copies that have not replaced the tables. */
async function leave<Event extends LogEntry>(
  projection: Projection<Event>,
  { db }: RebuildOptions<Event>,
  { id, leases }: Pick<Entered, 'id' | 'leases'>,
): Promise<void> {
  const { name } = projection;
  await inTransaction(db, async (tx) => {
    await lockRebuilds(tx, name);
    await leases.releaseIn(tx);
    const found = await findCopies(tx, projection);
    const others = await readLeases(tx, leaseNames(name, id).presence);
    if (found === null || (found === id && others.size === 0)) await dropCopies(tx, name);
  });
}
