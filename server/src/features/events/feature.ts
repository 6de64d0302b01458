import type { Logger } from 'pino';
import { choice, duration, headerName } from '../../platform/settings/config-values.ts';
import type { DatabaseConnection, Db } from '../../platform/database/database.ts';
import type { ExtensionsOf } from '../../platform/feature/extension-point.ts';
import { defineFeature, type EveryFeature } from '../../platform/feature/feature.ts';
import type { Hints } from '../../platform/hints/hints.ts';
import type { HttpApp } from '../../platform/http/app.ts';
import type { Mutations } from '../../platform/idempotency/idempotency.ts';
import type { Metrics } from '../../platform/metrics/metrics.ts';
import { eventLogGrown } from '../../platform/event-log/event-log.ts';
import { streamUrl } from '../../platform/event-log/jetstream/stream-url.ts';
import { RecentBlocks } from '../../platform/event-log/recent-blocks.ts';
import { setting } from '../../platform/settings/settings.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { hourMs } from '../../platform/values/time.ts';
import type { Vault } from '../../platform/secrets/vault.ts';
import type { Authenticator, SignatureReader } from '../keys/keys.ts';
import { erasureHandler, eraseViewerJob } from './erasure/erasure.ts';
import { addErasureRoutes } from './erasure/erasure-routes.ts';
import { replayHandler } from './erasure/replay.ts';
import { eventErrors } from './errors.ts';
import { openStream } from './engagement-log.ts';
import { declaredKinds } from './intake/declared-kinds.ts';
import { openEventIntake } from './intake/event-intake.ts';
import {
  openEventLog,
  type EngagementLog,
  type OnEventsStored,
  type StoredEvents,
} from './events.ts';
import { LiveTail } from './live-tail/live-tail.ts';
import { addLiveTailRoutes } from './live-tail/live-tail-routes.ts';
import { expireRejections, forgetViewerBesideLog } from './maintenance.ts';
import { addEventRoutes } from './intake/routes.ts';

type Parts = {
  db: Db;
  connection: DatabaseConnection;
  log: Logger;
  metrics: Metrics;
  mutations: Mutations;
  vault: Vault;
  storage: Storage;
  hints: Hints;
  authenticator: Authenticator;
  viewerSignatures: SignatureReader;
  everyFeature: EveryFeature;
  extensionsOf: ExtensionsOf;
  isClosing: () => boolean;
};

export const events = defineFeature({
  name: 'events',
  apiTags: {
    Events: 'Engagement events: intake and live tail.',
    Users: 'Erasure of viewer data.',
  },
  areas: { events: 'events', users: 'events' },
  settings: {
    eventLogUrl: setting({
      env: 'REELFEED_EVENT_LOG',
      parse: streamUrl(),
      fallback: 'postgres',
      secret: true,
      about:
        'Where engagement events are stored: `postgres`, or a NATS JetStream stream: `nats://[user:password@]host:port[,host:port…][/STREAM][?replicas=3]`, `tls://` for TLS.',
    }),
    eventRetentionMs: setting({
      env: 'REELFEED_EVENT_RETENTION',
      parse: duration({ min: '1d' }),
      fallback: '90d',
      about:
        'How long the log keeps engagement events, in whole days, at least one. Statistics derived from them are kept.',
    }),
    botEvents: setting({
      env: 'REELFEED_BOT_EVENTS',
      parse: choice(['ignore', 'count']),
      fallback: 'ignore',
      about:
        'Whether statistics and ranking ignore or count events of known bots, which are marked in the log. After a change, run `reelfeed rebuild all`.',
    }),
    countryHeader: setting({
      env: 'REELFEED_COUNTRY_HEADER',
      parse: headerName(),
      fallback: 'CF-IPCountry',
      about:
        'Header in which the reverse proxy sends the country of the viewer (ISO 3166-1 alpha-2), used for events without a country.',
    }),
  },
  errors: eventErrors,
  tables: ['event_rejection', 'erasure'],
  async build(parts: Parts, { eventLogUrl, eventRetentionMs, countryHeader, botEvents }) {
    const { db, vault, storage, hints, everyFeature } = parts;
    await using opening = new AsyncDisposableStack();
    const stream =
      eventLogUrl === null ? null : opening.use(await openStream(eventLogUrl, parts.log));
    const eventLog = openEventLog(db, {
      connection: parts.connection,
      recent: new RecentBlocks(),
      stream,
    });
    await eventLog.prepare();
    const listeners = new Set<(blocks: readonly StoredEvents[]) => void>();
    const onEventsStored: OnEventsStored = (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    };
    const onStored = (blocks: readonly StoredEvents[]) => {
      for (const listener of listeners) listener(blocks);
      hints.give(eventLogGrown);
    };
    return {
      resources: [opening.move()],
      provides: {
        eventLog,
        eventStream: stream,
        onEventsStored,
        countsBots: botEvents === 'count',
      },
      routes: (app, opened) =>
        addRoutes(app, opened, {
          ...parts,
          eventLog,
          onStored,
          countryHeader: countryHeader.toLowerCase(),
        }),
      jobs: [
        erasureHandler({ db, eventLog, vault, storage, steps: [everyFeature.eraseViewer] }),
        replayHandler({
          db,
          eventLog,
          vault,
          onQueued: () => hints.give(eraseViewerJob.name),
        }),
      ],
      eraseViewer: (viewer) => forgetViewerBesideLog({ db, eventLog }, viewer),
      chores: [
        ...eventLog.upkeep,
        {
          name: 'expire events',
          intervalMs: hourMs,
          run: (signal) => eventLog.expire(eventRetentionMs, signal),
        },
        { name: 'expire rejected events', intervalMs: 60_000, run: () => expireRejections(db) },
      ],
    };
  },
});

/** The intake closes after the server, so that everything accepted is stored and answered. */
async function addRoutes(
  app: HttpApp,
  opened: AsyncDisposableStack,
  parts: Parts & {
    eventLog: EngagementLog;
    onStored: (blocks: readonly StoredEvents[]) => void;
    countryHeader: string;
  },
): Promise<void> {
  const { db, log, metrics, mutations, vault, hints, eventLog, onStored, isClosing } = parts;
  const { viewerSignatures } = parts;
  const intake = opened.use(
    openEventIntake({
      db,
      log,
      metrics,
      eventLog,
      onStored,
      viewerSignatures,
      declaredKinds: parts.extensionsOf(declaredKinds),
    }),
  );
  await addEventRoutes(app, { ...intake, mutations, countryHeader: parts.countryHeader });
  const tail = opened.use(new LiveTail({ db, log, eventLog }));
  addLiveTailRoutes(app, { tail, isClosing });
  const onQueued = () => hints.give(eraseViewerJob.name);
  addErasureRoutes(app, { db, mutations, vault, onQueued });
}
