/**
 * A service as it looks after a year with real customers: every type and state of everything,
 * hostile texts, carousels first in the feed, an active broadcast, and a second organization with
 * the same external ids. Features that work alone are tested here next to all others.
 *
 * It takes a few seconds to start. The tests of a file share one and must not change it.
 */
import { freePort, type Stream } from './live-publisher.ts';
import { createItem, createOrganization } from './seed.ts';
import { startService, type TestService } from './service.ts';
import { buildContent, type WorldContent } from './world/world-content.ts';
import { buildConfiguration } from './world/world-configuration.ts';
import { sendWorldEvents } from './world/world-events.ts';
import { buildStreams, type WorldStreams } from './world/world-live.ts';
import {
  buildAlerts,
  buildExports,
  buildJobs,
  buildKeys,
  buildRemovals,
  buildReports,
  type WorldKeys,
} from './world/world-operations.ts';
import {
  buildWebhooks,
  startReceivers,
  webhookSchedule,
  type WorldReceivers,
  type WorldWebhooks,
} from './world/world-webhooks.ts';

export type CrowdedWorld = WorldContent & {
  service: TestService;
  streams: WorldStreams;
  receivers: WorldReceivers;
  webhooks: WorldWebhooks;
  experiments: Record<string, string>;
  exports: Record<string, string>;
  alerts: Record<string, string>;
  reports: Record<string, string>;
  /** A run of the saved report `plain`. */
  runId: string;
  jobs: Record<string, string>;
  keys: WorldKeys;
  /** Another organization on the same service, with the same external ids. */
  neighbour: { secretKey: string; publishableKey: string };
  /** Number of counted events. */
  events: number;
};

export async function startCrowdedWorld(env: Record<string, string> = {}): Promise<CrowdedWorld> {
  const [rtmpPort, receivers] = await Promise.all([freePort(), startReceivers()]);
  const service = await startService({
    REELFEED_RTMP_PORT: String(rtmpPort),
    REELFEED_EGRESS_ALLOW: Object.values(receivers)
      .map(({ allow }) => allow)
      .join(','),
    REELFEED_WEBHOOK_RETRY_SCHEDULE: webhookSchedule,
    // On a busy machine, a page whose ranking times out would have another order.
    REELFEED_FEED_RANKING_BUDGET: '10s',
    ...env,
  });
  const [content, streams, experiments, keys] = await Promise.all([
    buildContent(service, { gone: receivers.gone.url, page: receivers.taking.url }),
    buildStreams(service, rtmpPort),
    buildConfiguration(service),
    buildKeys(service),
  ]);
  const events = await sendWorldEvents(service, watched(content, streams.recorded));
  // An erasure removes exports created before it.
  await buildRemovals(service, content.items['purged'] ?? '');
  const [webhooks, exports, alerts, reports, jobs, neighbour] = await Promise.all([
    buildWebhooks(service, receivers),
    buildExports(service),
    buildAlerts(service),
    buildReports(service),
    buildJobs(service),
    buildNeighbour(service),
  ]);
  return {
    ...{ ...content, service, streams, receivers, webhooks },
    ...reports,
    ...{ experiments, exports, alerts, jobs, keys, neighbour, events },
  };
}

/** Items that viewers have seen. */
function watched({ items }: WorldContent, recorded: Stream): string[] {
  const names = ['portrait', 'story', 'memberOne', 'emoji', 'script', 'arabic', 'wide', 'purged'];
  return [...names.map((name) => items[name] ?? ''), recorded.contentId];
}

async function buildNeighbour(service: TestService): Promise<CrowdedWorld['neighbour']> {
  const neighbour = await createOrganization(service, 'The neighbour');
  const theirs: TestService = {
    ...service,
    ...neighbour,
    call: (method, path, call) => service.call(method, path, { key: neighbour.secretKey, ...call }),
  };
  for (const externalId of ['same', 'hostile-script', 'far', 'live-idle']) {
    await createItem(theirs, { title: `The neighbour's ${externalId}`, externalId });
  }
  return neighbour;
}
