/** Computes what events of the log contribute to the metrics of their organizations. */
import type { Db } from '../../platform/database/database.ts';
import { hashViewer, viewerOf } from '../analytics/analytics.ts';
import type { LoggedEvent } from '../events/events.ts';
import type { ViewerSecrets } from '../organizations/organizations.ts';
import { countEvent, kindsOf } from './definition.ts';
import { selectAllMetrics, type CountedEvent, type MetricRow } from './queries.ts';

export type OrganizationEvents = {
  readonly organizationId: string;
  readonly events: readonly LoggedEvent[];
};

/** @returns the contributions of events; an event without a viewer contributes nothing */
export async function countMetricEvents(
  db: Db,
  secrets: ViewerSecrets,
  blocks: readonly OrganizationEvents[],
): Promise<CountedEvent[]> {
  const organizationIds = [...new Set(blocks.map(({ organizationId }) => organizationId))];
  const metrics = Map.groupBy(
    await selectAllMetrics(db, organizationIds),
    ({ organizationId }) => organizationId,
  );
  if (metrics.size === 0) return [];
  await secrets.load(db, metrics.keys());
  return blocks.flatMap(({ organizationId, events }) =>
    countBlock(secrets, organizationId, byKind(metrics.get(organizationId) ?? []), events),
  );
}

function byKind(metrics: readonly MetricRow[]): Map<string, MetricRow[]> {
  const found = new Map<string, MetricRow[]>();
  for (const metric of metrics) {
    for (const kind of kindsOf(metric.definition)) {
      found.set(kind, [...(found.get(kind) ?? []), metric]);
    }
  }
  return found;
}

function countBlock(
  secrets: ViewerSecrets,
  organizationId: string,
  metrics: ReadonlyMap<string, readonly MetricRow[]>,
  events: readonly LoggedEvent[],
): CountedEvent[] {
  if (metrics.size === 0) return [];
  return events.flatMap((event) => {
    const counting = metrics.get(event.event) ?? [];
    const viewer = counting.length === 0 ? null : viewerOf(event);
    if (viewer === null) return [];
    const found = counting.flatMap(({ number, definition }) => {
      const counts = countEvent(definition, event);
      return counts === null ? [] : [{ metricNumber: number, ...counts }];
    });
    if (found.length === 0) return [];
    const viewerKey = Buffer.from(hashViewer(secrets, organizationId, viewer), 'latin1');
    const eventKey = eventKeyOf(secrets, organizationId, event.eventId);
    return found.map((counts) => ({ ...counts, viewerKey, atMs: event.at, eventKey }));
  });
}

/**
 * Events are identified by eight bytes, hashed with a key because a client may use a person's id as
 * the event id.
 */
export function eventKeyOf(
  secrets: ViewerSecrets,
  organizationId: string,
  eventId: string,
): Buffer {
  return Buffer.from(secrets.hash(organizationId, `metric event:${eventId}`).slice(0, 8), 'latin1');
}
