import { duration } from '../../platform/settings/config-values.ts';
import type { Db } from '../../platform/database/database.ts';
import type { HeavyReads } from '../../platform/database/read-replica.ts';
import { extend, type ExtensionsOf } from '../../platform/feature/extension-point.ts';
import { defineFeature } from '../../platform/feature/feature.ts';
import type { ListCursors } from '../../platform/http/list-cursor.ts';
import { setting } from '../../platform/settings/settings.ts';
import type { EngagementLog } from '../events/events.ts';
import { facts } from './facts/follower.ts';
import { forgetItemsInFacts } from './facts/forget.ts';
import { createProjections } from './projections/all-projections.ts';
import { engagementFollowers } from './projections/engagement/follower.ts';
import { experimentVariants } from './reports/dimensions.ts';
import { runReport, type RunReport } from './reports/runnable-reports.ts';
import { addAnalyticsRoutes } from './routes.ts';

type Parts = {
  db: Db;
  heavyReads: HeavyReads;
  cursors: ListCursors;
  eventLog: EngagementLog;
  extensionsOf: ExtensionsOf;
};

export const analytics = defineFeature({
  name: 'analytics',
  apiTags: {
    Analytics: 'Reports on viewers, items and playback.',
  },
  areas: { analytics: 'analytics' },
  settings: {
    sessionTimeoutMs: setting({
      env: 'REELFEED_SESSION_TIMEOUT',
      parse: duration({ min: '1m' }),
      fallback: '30m',
      about:
        'A session and its views end after this long without an event. After a change, run `reelfeed rebuild engagement`.',
    }),
  },
  tables: [
    'content_counter',
    'audience_counter',
    'view_fact',
    'fact_name',
    'content_day',
    'viewer_set',
    'reactor_set',
    'quality_counter',
    'retention_counter',
    'viewer_activity',
    'viewer_link',
    'viewer_reaction',
    'reaction_counter',
    'minute_counter',
    'minute_viewer_set',
    'organization_people',
    'view_state_a',
    'view_state_b',
    'view_state_c',
    'session_state_a',
    'session_state_b',
    'session_state_c',
    'session_device',
  ],
  extensions: [extend(engagementFollowers, facts)],
  projections: (settings, extensionsOf) =>
    createProjections(settings, extensionsOf(engagementFollowers)),
  build({ extensionsOf, ...parts }: Parts, { sessionTimeoutMs }) {
    const [variantsOf = async () => null] = extensionsOf(experimentVariants);
    const reportParts = { ...parts, variantsOf };
    const run: RunReport = (...asked) => runReport(reportParts, ...asked);
    return {
      provides: {
        sessionTimeoutMs,
        runReport: run,
        variantsOf,
      },
      routes: (app) => addAnalyticsRoutes(app, reportParts),
      purgeItems: (items, signal) => forgetItemsInFacts(parts.db, items, signal),
    };
  },
});
