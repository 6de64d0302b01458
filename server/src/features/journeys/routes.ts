import type { TSchema } from 'typebox';
import type { Db } from '../../platform/database/database.ts';
import type { HeavyReads } from '../../platform/database/read-replica.ts';
import type { HttpApp } from '../../platform/http/app.ts';
import { principalOf } from '../../platform/http/principal.ts';
import { answers } from '../../platform/http/schemas.ts';
import { readBacklog, type BacklogParts } from '../../platform/projections/backlog.ts';
import { Report, type VariantsOf } from '../analytics/analytics.ts';
import type { EngagementLog } from '../events/events.ts';
import { answerCohorts, answerCustom, answerFunnel, answerPaths, type Asking } from './answers.ts';
import {
  CohortAnswer,
  CohortBody,
  CustomAnswer,
  CustomBody,
  FunnelBody,
  Funnels,
  PathAnswer,
  PathBody,
} from './schemas.ts';
import { Turns } from './turns.ts';

export type JourneyParts = {
  readonly heavyReads: HeavyReads;
  readonly eventLog: Pick<EngagementLog, 'start' | 'backlog'>;
  readonly sessionTimeoutMs: number;
  readonly variantsOf: VariantsOf;
};

const config = { access: 'secret', scope: 'analytics:read' } as const;

/** A question is a request body and changes nothing, so `POST` needs no `Idempotency-Key` here. */
export function addJourneyRoutes(app: HttpApp, parts: JourneyParts): void {
  const turns = new Turns();
  const answer = async <Data>(
    organizationId: Asking['organizationId'],
    work: (asking: Asking) => Promise<Data>,
  ) => {
    const { heavyReads, eventLog, sessionTimeoutMs, variantsOf } = parts;
    const asked = async (db: Db) => {
      const asOf = await readAsOf({ db, eventLog });
      const data = await work({ db, organizationId, sessionTimeoutMs, variantsOf });
      return { data, meta: { asOf } };
    };
    return turns.take(() => heavyReads.read(asked));
  };
  app.post(
    '/v1/analytics/funnels',
    {
      config,
      schema: {
        ...about('askFunnel', 'Get a funnel', FunnelBody, Funnels),
        description:
          'Returns how many viewers get from step to step, within a session or a number of hours, and how long ' +
          'it takes. Has no side effects.',
      },
    },
    async (request) =>
      answer(principalOf(request).organizationId, (asking) => answerFunnel(asking, request.body)),
  );
  app.post(
    '/v1/analytics/paths',
    {
      config,
      schema: {
        ...about('askPaths', 'Get the paths of viewers', PathBody, PathAnswer),
        description:
          'Returns what viewers do after or before an event in a session, step by step. Has no side effects.',
      },
    },
    async (request) =>
      answer(principalOf(request).organizationId, (asking) => answerPaths(asking, request.body)),
  );
  app.post(
    '/v1/analytics/cohorts',
    {
      config,
      schema: {
        ...about('askCohorts', 'Get cohorts of viewers', CohortBody, CohortAnswer),
        description:
          'Groups viewers by their first day, action or content, and returns the share that does something on ' +
          'each following day or week. Has no side effects.',
      },
    },
    async (request) =>
      answer(principalOf(request).organizationId, (asking) => answerCohorts(asking, request.body)),
  );
  app.post(
    '/v1/analytics/custom',
    {
      config,
      schema: {
        ...about('askCustom', 'Get a report on events of one kind', CustomBody, CustomAnswer),
        description:
          'Returns counts, viewers and statistics of a declared value of `data`, by another value and over time. ' +
          'Has no side effects.',
      },
    },
    async (request) =>
      answer(principalOf(request).organizationId, (asking) => answerCustom(asking, request.body)),
  );
}

function about<const Body extends TSchema, Data extends TSchema>(
  operationId: string,
  summary: string,
  body: Body,
  data: Data,
) {
  return {
    operationId,
    summary,
    tags: ['Analytics'],
    body,
    response: answers({ 200: Report(data) }),
  };
}

/** The time up to which every event is included in the response. */
async function readAsOf({ db, eventLog }: BacklogParts): Promise<string> {
  const nowMs = Date.now();
  const { ageMs } = await readBacklog({ db, eventLog }, 'journeys');
  return new Date(nowMs - ageMs).toISOString();
}
