import type { Logger } from 'pino';
import { integer } from '../../platform/settings/config-values.ts';
import { inTransaction, type Db } from '../../platform/database/database.ts';
import { extend } from '../../platform/feature/extension-point.ts';
import { defineFeature, type Chore } from '../../platform/feature/feature.ts';
import type { Hints } from '../../platform/hints/hints.ts';
import { auditedResources } from '../../platform/http/audited-resource.ts';
import type { ListCursors } from '../../platform/http/list-cursor.ts';
import type { Mutations } from '../../platform/idempotency/idempotency.ts';
import type { Signer } from '../../platform/secrets/signing-keys.ts';
import { setting } from '../../platform/settings/settings.ts';
import { engagementFollowers, experimentVariants } from '../analytics/analytics.ts';
import type { EngagementLog } from '../events/events.ts';
import type { SignatureReader } from '../keys/keys.ts';
import { metricUses } from '../metrics/metrics.ts';
import { configurationChanged, lockConfiguration } from '../settings/settings.ts';
import { webhookDeliveries, webhookEvents } from '../webhooks/webhooks.ts';
import { auditedExperiment, auditedHoldout } from './audited-experiment.ts';
import { completeDue, countQuietExposures, settle, takeDueLooks } from './catch-up.ts';
import { addConfigRoute } from './config-route.ts';
import { experimentErrors } from './errors.ts';
import { openExperiments } from './experiments.ts';
import { freezeTimelinesHandler } from './freeze.ts';
import { watchGuardrails } from './guardrail-watch.ts';
import { addLifecycleRoutes } from './lifecycle-routes.ts';
import { experimentNaming } from './guardrail-queries.ts';
import { addHoldoutRoutes } from './holdout-routes.ts';
import { addRecordRoutes } from './record-routes.ts';
import { addResultRoutes } from './result-routes.ts';
import { addExperimentRoutes } from './routes.ts';
import { addRunningRoutes } from './running-routes.ts';
import { deleteExpiredShares } from './shares/queries.ts';
import { addShareRoutes } from './shares/routes.ts';
import { createShareUrls } from './shares/share-urls.ts';
import { experimentUnits } from './units/units.ts';
import { endTrialsOf } from './queries.ts';
import { variantsOfViewers } from './viewer-variants.ts';
import { experimentEvents } from './webhook-events.ts';

type Parts = {
  db: Db;
  log: Logger;
  cursors: ListCursors;
  mutations: Mutations;
  hints: Hints;
  eventLog: EngagementLog;
  viewerSignatures: SignatureReader;
  signer: Signer;
  publicUrl: string;
};

export const experiments = defineFeature({
  name: 'experiments',
  apiTags: {
    Experiments: 'Experiments on ranking, settings and flags, and their results.',
  },
  areas: { experiments: 'experiments', config: 'settings' },
  settings: {
    experimentMinimumDays: setting({
      env: 'REELFEED_EXPERIMENT_MIN_DAYS',
      parse: integer({ min: 0, max: 90 }),
      fallback: '7',
      about:
        'Full days that an experiment must run before its results are evaluated. Applies to experiments that start later.',
    }),
    experimentMinimumUnits: setting({
      env: 'REELFEED_EXPERIMENT_MIN_UNITS',
      parse: integer({ min: 2, max: 1_000_000 }),
      fallback: '100',
      about:
        'Participants that each variant needs before results are evaluated. Applies to experiments that start later.',
    }),
    experimentTunedTo: setting({
      env: 'REELFEED_EXPERIMENT_TUNED_TO',
      parse: integer({ min: 100, max: 100_000_000 }),
      fallback: '5000',
      about:
        'Number of participants at which intervals of experiments without a planned end are tightest. Applies to experiments that start later.',
    }),
  },
  errors: experimentErrors,
  tables: [
    'experiment',
    'experiment_share',
    'exposure',
    'experiment_unit',
    'viewer_day',
    'experiment_holdout',
    'experiment_decision',
  ],
  extensions: [
    extend(webhookEvents, experimentEvents),
    extend(auditedResources, auditedExperiment),
    extend(auditedResources, auditedHoldout),
    extend(engagementFollowers, experimentUnits),
    extend(experimentVariants, variantsOfViewers),
    extend(metricUses, async (tx, organizationId, metric) => {
      const experimentId = await experimentNaming(tx, organizationId, metric);
      return experimentId === null ? null : `the experiment ${experimentId}`;
    }),
  ],
  async build(parts: Parts, values) {
    const { db, log, cursors, mutations, hints, eventLog, viewerSignatures } = parts;
    const { signer, publicUrl } = parts;
    const opened = await openExperiments(db, log, hints);
    const { assignments, exposures } = opened;
    const plan = {
      alpha: 0.05,
      minimumDays: values.experimentMinimumDays,
      minimumUnits: values.experimentMinimumUnits,
      minimumOutcomes: 5,
      tunedTo: values.experimentTunedTo,
    };
    const onChange = () => hints.give(configurationChanged);
    return {
      provides: { assignments },
      async eraseViewer(viewer) {
        await inTransaction(db, async (tx) => {
          await lockConfiguration(tx, viewer.organizationId);
          await endTrialsOf(tx, viewer);
        });
        onChange();
      },
      resources: [opened],
      routes(app) {
        addConfigRoute(app, { assignments, viewerSignatures });
        addExperimentRoutes(app, { db, cursors, mutations, plan, onChange });
        addLifecycleRoutes(app, {
          db,
          mutations,
          plan,
          settle: () => settle({ db, eventLog, exposures }),
          onChange,
        });
        addRunningRoutes(app, { mutations, plan, onChange });
        addRecordRoutes(app, { db, cursors, mutations });
        addHoldoutRoutes(app, { db, mutations });
        addResultRoutes(app, { db, plan });
        addShareRoutes(app, { db, mutations, urls: createShareUrls(publicUrl, signer) });
      },
      jobs: [freezeTimelinesHandler(db)],
      chores: choresOf(
        db,
        () => {
          onChange();
          hints.give(webhookDeliveries);
        },
        () => hints.give(webhookDeliveries),
      ),
    };
  },
});

function choresOf(db: Db, onCompleted: () => void, onHarmed: () => void): Chore[] {
  return [
    {
      name: 'end experiments',
      intervalMs: 1_000,
      async run() {
        if ((await completeDue(db)).length > 0) onCompleted();
      },
    },
    {
      name: 'look at experiments',
      intervalMs: 30_000,
      run: () => takeDueLooks(db, new Date()),
    },
    {
      name: 'watch guardrails',
      intervalMs: 30_000,
      async run() {
        if ((await watchGuardrails(db, new Date())) > 0) onHarmed();
      },
    },
    { name: 'expire links to results', intervalMs: 3_600_000, run: () => deleteExpiredShares(db) },
    { name: 'count exposures', intervalMs: 1_000, run: () => countQuietExposures(db) },
  ];
}
