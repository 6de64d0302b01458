/** Updates the figures of experiments while no events arrive, and ends experiments that are due. */
import { setTimeout as delay } from 'node:timers/promises';
import { inTransaction, type Db } from '../../platform/database/database.ts';
import type { EventLog, LogEntry } from '../../platform/event-log/event-log.ts';
import { readBacklog } from '../../platform/projections/backlog.ts';
import { everyPartition } from '../../platform/projections/partitions.ts';
import { interruptProjections, readGeneration } from '../../platform/projections/queries.ts';
import type { Exposures } from './assignments/exposures.ts';
import type { ExperimentRow } from './experiment.ts';
import { completeExperiment } from './lifecycle.ts';
import { freeze } from './freeze.ts';
import { overdueExperiments, runningExperiments } from './running-queries.ts';
import {
  ageOf,
  computeBetweenLooks,
  isLookDue,
  renewedAfterMs,
  storedLook,
  takeLook,
} from './results.ts';
import { hasUncounted, runningNumbers } from './units/queries.ts';
import { addExposedUnits } from './units/units.ts';

const followed = 'engagement';
const maxSettleMs = 3_000;
const settlePauseMs = 50;

/** Counts exposures that no pass has counted because no events arrived. */
export async function countQuietExposures(db: Db): Promise<void> {
  while (await hasUncounted(db)) {
    await inTransaction(db, async (tx) => {
      await interruptProjections(tx, [{ name: followed }]);
      const numbers = await runningNumbers(tx, everyPartition);
      const generation = await readGeneration(tx, followed, everyPartition);
      await addExposedUnits(tx, numbers, generation);
    });
  }
}

/**
 * Waits until everything acknowledged so far is counted: exposures of this process and events of
 * all processes. Gives up after a few seconds so that a slow projection does not block requests.
 */
export async function settle<Event extends LogEntry>({
  db,
  eventLog,
  exposures,
}: {
  db: Db;
  eventLog: EventLog<Event>;
  exposures: Exposures;
}): Promise<void> {
  await exposures.flush();
  const deadline = performance.now() + maxSettleMs;
  while (performance.now() < deadline) {
    const { blocks } = await readBacklog({ db, eventLog }, followed);
    if (blocks === 0) break;
    await delay(settlePauseMs);
  }
  await countQuietExposures(db);
}

/**
 * Completes experiments that have reached their planned end.
 *
 * @returns the experiments that this call completed
 */
export async function completeDue(db: Db): Promise<ExperimentRow[]> {
  const completed: ExperimentRow[] = [];
  for (const row of await overdueExperiments(db)) {
    const ended = await inTransaction(db, (tx) => completeExperiment(tx, row, freeze));
    if (ended !== null) completed.push(ended);
  }
  return completed;
}

/**
 * Takes looks as soon as they are due, so that each uses only the data known at that time, and
 * refreshes the stored results.
 */
export async function takeDueLooks(db: Db, now: Date): Promise<void> {
  for (const row of await runningExperiments(db)) {
    if (row.ends_at !== null && row.ends_at <= now) continue;
    const kept = storedLook(row);
    if (isLookDue(row, now)) await takeLook(db, row, now);
    else if (kept?.look === -1 && ageOf(kept, now) > renewedAfterMs) {
      await computeBetweenLooks(db, row, now);
    }
  }
}
