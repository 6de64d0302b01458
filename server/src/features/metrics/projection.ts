/**
 * The projection `metrics`: a row for each event that a metric counts, and the versions of the app that
 * viewers were seen with. Who was in which experiment at that
 * moment is joined when results are read, so an exposure may be told before or after its events.
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
import { countEvents, eventKeyOf } from './counting.ts';
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

/** Longer than any experiment runs, with its history. */
const keptDays = 400;

export const metricEvents: EventProjection = {
  name: 'metrics',
  tables: ['metric_event', 'viewer_version'],
  takesCustomKinds: true,
  createWriter: () => new MetricWriter(),
  partitionKey: partitionKeyOf,
  maxDuty: 1,
  eraseViewer: forgetViewer,
  // Items are in conditions at most, and the log forgets them there.
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
      // A metric that was defined while the log was read lacks the events before.
      for (const organizationId of await markUncomputed(tx)) {
        await enqueue(tx, computeMetricsJob, {}, { organizationId });
      }
    },
  },
};

/** An event of somebody else may have the viewer's id as its own; the log knows it by another one now. */
async function forgetViewer(tx: Tx, viewer: Viewer): Promise<number> {
  const { organizationId, userId } = viewer;
  const secrets = new ViewerSecrets();
  await secrets.load(tx, [organizationId]);
  const replacement = replacementEventId(await erasureKey(tx, viewer));
  await replaceEventKey(tx, organizationId, {
    before: eventKeyOf(secrets, organizationId, userId),
    after: eventKeyOf(secrets, organizationId, replacement),
  });
  // An id that may as well be a version stays; see events/labels.ts.
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

  /** Metrics are read here, not before: one that was defined meanwhile counts in this pass. */
  async write(tx: Tx): Promise<void> {
    const pass = this.#pass;
    this.#pass = [];
    if (pass.length === 0) return;
    await insertEvents(tx, await countEvents(tx, this.#secrets, pass));
    await upsertVersions(tx, await this.#versions.take(tx, this.#secrets, pass));
  }

  forget(): void {
    this.#pass = [];
    this.#versions.forget();
  }
}
