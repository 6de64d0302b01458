/**
 * The projection `metrics`: a row for each event that a metric counts, and the app versions viewers
 * were seen with. Experiment membership is joined when results are read, so an exposure may arrive
 * before or after its events.
 */
import type { Tx } from '../../platform/database/database.ts';
import type { ProjectionWriter, Viewer } from '../../platform/projections/projection.ts';
import { enqueue } from '../../platform/queue/queue.ts';
import { erasedKeys, partitionKeyOf } from '../analytics/analytics.ts';
import {
  erasedId,
  erasureKey,
  isFixed,
  replacementEventId,
  type EventBlock,
  type EventProjection,
  type LoggedEvent,
} from '../events/events.ts';
import { ViewerSecrets } from '../organizations/organizations.ts';
import { computeMetricsJob } from './compute-job.ts';
import { countMetricEvents, eventKeyOf } from './counting.ts';
import {
  deleteEventsOf,
  deleteEventsOfDeleted,
  deleteOldEvents,
  insertEvents,
  keepOldEvents,
  markUncomputed,
  replaceEventKey,
} from './queries.ts';

import {
  deleteOldVersions,
  deleteVersionsOf,
  keepOldVersions,
  renameVersion,
  upsertVersions,
} from './version-queries.ts';
import { VersionNotes } from './versions.ts';

/** Longer than any experiment runs, including its history. */
const keptDays = 400;

export const metricEvents: EventProjection = {
  name: 'metrics',
  tables: ['metric_event', 'viewer_version'],
  takesCustomKinds: true,
  createWriter: () => new MetricWriter(),
  partitionKey: partitionKeyOf,
  maxDuty: 1,
  eraseViewer: forgetViewer,
  // Items occur only in conditions, and the log removes them there.
  purgeItems: 'no items',
  expire: [
    deleteEventsOfDeleted,
    (tx, limit) => deleteOldEvents(tx, keptDays, limit),
    (tx, limit) => deleteOldVersions(tx, keptDays, limit),
  ],
  rebuild: {
    from: 'log',
    async keepOld(tx, schema, firstDayMs) {
      await keepOldEvents(tx, schema, firstDayMs);
      await keepOldVersions(tx, schema, firstDayMs);
      // A metric defined while the log was being read lacks earlier events.
      for (const organizationId of await markUncomputed(tx)) {
        await enqueue(tx, computeMetricsJob, {}, { organizationId });
      }
    },
  },
};

/**
 * Another viewer's event may use the viewer's id as its own id; the log has already replaced it.
 */
async function forgetViewer(tx: Tx, viewer: Viewer): Promise<number> {
  const { organizationId, userId } = viewer;
  const secrets = new ViewerSecrets();
  await secrets.load(tx, [organizationId]);
  const replacement = replacementEventId(await erasureKey(tx, viewer));
  await replaceEventKey(tx, organizationId, {
    before: eventKeyOf(secrets, organizationId, userId),
    after: eventKeyOf(secrets, organizationId, replacement),
  });
  // An id that could also be a version stays; see events/labels.ts.
  if (!isFixed('appVersion', userId)) {
    const { placeholder } = erasedId(userId, replacement);
    await renameVersion(tx, organizationId, { before: userId, after: placeholder });
  }
  const keys = await erasedKeys(tx, viewer);
  return (await deleteEventsOf(tx, keys)) + (await deleteVersionsOf(tx, keys));
}

class MetricWriter implements ProjectionWriter<LoggedEvent> {
  #pass: EventBlock[] = [];
  readonly #secrets = new ViewerSecrets();
  readonly #versions = new VersionNotes();

  collect(blocks: readonly EventBlock[]): void {
    for (const block of blocks) if (block.events.length > 0) this.#pass.push(block);
  }

  /**
   * Metrics are read here, not earlier, so that one defined in the meantime counts in this pass.
   */
  async write(tx: Tx): Promise<void> {
    const pass = this.#pass;
    this.#pass = [];
    if (pass.length === 0) return;
    await insertEvents(tx, await countMetricEvents(tx, this.#secrets, pass));
    await upsertVersions(tx, await this.#versions.take(tx, this.#secrets, pass));
  }

  forget(): void {
    this.#pass = [];
    this.#versions.forget();
  }
}
