/** Trains the models that are due, each from its organization's log. */
import type { Logger } from 'pino';
import type { Db } from '../../../platform/database/database.ts';
import { inTransaction } from '../../../platform/database/database.ts';
import { isDatabaseAway } from '../../../platform/database/database-errors.ts';
import type { OrganizationId } from '../../../platform/values/ids.ts';
import { dayMs } from '../../../platform/values/time.ts';
import { startWorkerThread } from '../../../platform/async/worker-thread.ts';
import type { EngagementLog } from '../../events/events.ts';
import { readMembers } from '../items/index-queries.ts';
import { baseConfig, mergeConfig } from '../ranking/config.ts';
import { bumpRevision, selectConfig } from '../settings/settings-queries.ts';
import { selectDueTrainings, storeTraining } from './model-queries.ts';
import type { TrainInput, TrainOutput } from './train-worker.ts';

type TrainerParts = { readonly db: Db; readonly log: Logger; readonly eventLog: EngagementLog };

/** Older activity says little about today's library. */
const windowMs = 14 * dayMs;
const page = { limitBlocks: 500, limitEvents: 5_000 };

export async function trainDueModels(
  parts: TrainerParts,
  intervalMs: number,
  signal: AbortSignal,
): Promise<void> {
  for (const organizationId of await selectDueTrainings(parts.db, intervalMs)) {
    signal.throwIfAborted();
    try {
      await trainModel(parts, organizationId, signal);
    } catch (error) {
      if (signal.aborted || isDatabaseAway(error)) throw error;
      parts.log.error({ err: error, organizationId }, 'watch time model could not be trained');
    }
  }
}

async function trainModel(
  { db, eventLog }: TrainerParts,
  organizationId: OrganizationId,
  signal: AbortSignal,
): Promise<void> {
  const startedAt = performance.now();
  await using thread = startWorkerThread<TrainInput, TrainOutput>(
    new URL('./train-worker.ts', import.meta.url),
    signal,
  );
  const stored = await selectConfig(db, organizationId);
  const config = mergeConfig(baseConfig, stored?.config ?? {});
  await readMembers(db, organizationId, async (items) => {
    await thread.ask({ items });
  });
  await thread.ask({ config });
  const until = await eventLog.end();
  let position = eventLog.since(Date.now() - windowMs);
  for (let isLast = false; !isLast;) {
    const read = await eventLog.read(position, { ...page, organizationId, until });
    const events = read.blocks.flatMap((block) => block.events);
    if (events.length > 0) await thread.ask({ events });
    ({ next: position, isLast } = read);
  }
  const training = await thread.ask('train');
  if (training === null) throw new Error('training returned no result');
  const trainMs = Math.round(performance.now() - startedAt);
  await inTransaction(db, async (tx) => {
    await storeTraining(tx, organizationId, training, trainMs);
    // Makes processes reload the ranking settings, and with them the model.
    await bumpRevision(tx, organizationId);
  });
}
