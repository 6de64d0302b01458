import type { Logger } from 'pino';
import type { Db } from '../../platform/database/database.ts';
import { extend } from '../../platform/feature/extension-point.ts';
import { defineFeature } from '../../platform/feature/feature.ts';
import type { Hints } from '../../platform/hints/hints.ts';
import type { Mutations } from '../../platform/idempotency/idempotency.ts';
import type { EngagementLog } from '../events/events.ts';
import { dataAtSending, webhookEvents } from '../webhooks/webhooks.ts';
import { readBatch } from './batch.ts';
import { followLog } from './follow.ts';
import { addForwardingRoutes } from './routes.ts';
import { forwardingEvents } from './webhook-events.ts';

type Parts = { db: Db; log: Logger; mutations: Mutations; hints: Hints; eventLog: EngagementLog };

export const forwarding = defineFeature({
  name: 'forwarding',
  apiTags: {
    'Event forwarding': 'Forwarding of accepted events to other systems.',
  },
  areas: { 'event-forwardings': 'webhooks' },
  tables: ['event_forwarding'],
  extensions: [
    extend(webhookEvents, forwardingEvents),
    extend(dataAtSending, { kind: 'events.batch', read: readBatch }),
  ],
  build(parts: Parts) {
    return {
      routes: (app) => addForwardingRoutes(app, parts),
      chores: [
        {
          name: 'forward events',
          intervalMs: 1_000,
          run: (signal) => followLog(parts, signal),
        },
      ],
    };
  },
});
