import { wantsCsv } from '../../platform/values/csv.ts';
import type { Db } from '../../platform/database/database.ts';
import type { HttpApp } from '../../platform/http/app.ts';
import { principalOf } from '../../platform/http/principal.ts';
import { answers, Envelope, IdParams } from '../../platform/http/schemas.ts';
import { audienceShare } from '../analytics/analytics.ts';
import { readOrganizationClock } from '../organizations/organizations.ts';
import type { JudgingPlan } from './experiment.ts';
import { readHoldout } from './holdout.ts';
import { readDatabaseClock } from './queries.ts';
import { planExperiment } from './plan.ts';
import { Plan, PlanRequest, ResultsAnswer, ResultsQuery } from './result-schemas.ts';
import { readReport } from './report.ts';
import { reportCsv } from './report-csv.ts';
import { experimentConfig, getExperiment, experimentTags } from './routes.ts';

export function addResultRoutes(app: HttpApp, { db, plan }: { db: Db; plan: JudgingPlan }): void {
  app.get(
    '/v1/experiments/:id/results',
    {
      config: experimentConfig,
      schema: {
        operationId: 'getExperimentResults',
        summary: 'Get the results of an experiment',
        description:
          'With `endsAt`, returns the results of the last look (one per day), otherwise the current results. ' +
          'docs/experiments.md explains each number. With `Accept: text/csv`, returns a table.',
        tags: experimentTags,
        params: IdParams,
        querystring: ResultsQuery,
        response: answers({ 200: Envelope(ResultsAnswer) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      const row = await getExperiment(db, organizationId, request.params.id);
      const data = await readReport(db, row, request.query);
      reply.header('vary', 'Accept');
      if (!wantsCsv(request.headers.accept)) return { data };
      await reply.type('text/csv; charset=utf-8').send(reportCsv(data));
      return { data };
    },
  );
  app.post(
    '/v1/experiments/plan',
    {
      config: experimentConfig,
      schema: {
        operationId: 'planExperiment',
        summary: 'Plan the participants and days that an effect needs',
        description:
          'Estimated from the viewer activity of the last seven days. Of `targetingRules`, only ' +
          'countries and devices are considered, since segments are not known in advance. The days ' +
          'are the time until that many distinct viewers have been seen; returning viewers count once.',
        tags: experimentTags,
        body: PlanRequest,
        response: answers({ 200: Envelope(Plan) }),
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const { metric, effect, variants, traffic, power, alpha, targetingRules } = request.body;
      const question = {
        metric,
        effect,
        variants: variants ?? 2,
        traffic: traffic ?? 1,
        power: power ?? 0.8,
        alpha: alpha ?? 0.05,
        tunedTo: plan.tunedTo,
      };
      const { countries = [], devices = [] } = targetingRules ?? {};
      const targeted = await audienceShare(db, organizationId, { countries, devices });
      const share = targeted * (1 - (await readHoldout(db, organizationId)));
      const clock = await readOrganizationClock(db, organizationId);
      const audience = { share, clock, now: await readDatabaseClock(db) };
      return { data: await planExperiment(db, organizationId, question, audience) };
    },
  );
}
