import { Type } from 'typebox';
import { coalesce } from '../../../platform/async/coalesce.ts';
import type { HttpApp } from '../../../platform/http/app.ts';
import { principalOf } from '../../../platform/http/principal.ts';
import { answers, Closed, Nullable, Timestamp } from '../../../platform/http/schemas.ts';
import type { OrganizationId } from '../../../platform/values/ids.ts';
import { RecentMap } from '../statistics/recent-map.ts';
import { answerWithMeta, readAsOf } from './answer.ts';
import { asCsv, count, Report } from './metric-schemas.ts';
import { recentMinutes, reportRealtime } from './realtime-report.ts';
import { reportRoute, type ReportParts } from './report-parts.ts';

const counts = {
  impressions: count(),
  plays: count(),
  completions: count(),
  likes: count(),
  shares: count(),
  saves: count(),
  rebuffers: count(),
  errors: count(),
  viewers: count('Distinct viewers with at least one play.'),
};
const item = { contentId: Type.String(), title: Type.String() };
const Minute = Type.Object({ minute: Timestamp, ...counts });

export const Realtime = Type.Object({
  now: Timestamp,
  total: Type.Object(counts, { description: 'Metrics of the last 60 minutes.' }),
  viewersLastFiveMinutes: count(),
  minutes: Type.Array(Minute, {
    description: 'Oldest first. The last minute is still in progress.',
  }),
  top: Type.Array(Type.Object({ ...item, impressions: count(), plays: count(), likes: count() }), {
    description: 'The ten items with the most plays.',
  }),
  rising: Type.Array(
    Type.Object({
      ...item,
      plays: count(`Plays in the last ${recentMinutes} minutes.`),
      playsPerMinute: Type.Number({ minimum: 0 }),
      playsPerMinuteBefore: Type.Number({
        minimum: 0,
        description: 'Plays in the 50 minutes before that.',
      }),
      change: Nullable(
        Type.Number({ description: 'Relative change; null if there were no plays before.' }),
      ),
    }),
    {
      description:
        'Items whose increase in plays is statistically significant, most significant first.',
    },
  ),
});

/** Requests within this time share a response. */
const maxAgeMs = 1_000;
const rememberedOrganizations = 1_000;

export function addRealtimeRoute(app: HttpApp, parts: ReportParts): void {
  const readers = new RecentMap<() => Promise<Answer>>(rememberedOrganizations);
  const read = (organizationId: OrganizationId) => {
    let reader = readers.get(organizationId);
    if (reader === undefined) {
      reader = coalesce(() => readAnswer(parts, organizationId), maxAgeMs);
      readers.set(organizationId, reader);
    }
    return reader();
  };
  app.get(
    '/v1/analytics/realtime',
    {
      config: reportRoute.config,
      schema: {
        operationId: 'getRealtimeAnalytics',
        summary: 'Get metrics of the last 60 minutes',
        description:
          'Returns metrics by minute, the most played items and the trending items. Designed to be polled ' +
          `every few seconds; \`meta.asOf\` says how current it is. ${asCsv} the minutes.`,
        tags: reportRoute.tags,
        querystring: Closed({}),
        response: answers({ 200: Report(Realtime) }),
      },
    },
    async (request, reply) => {
      const { data, asOf } = await read(principalOf(request).organizationId);
      return answerWithMeta(request, reply, { asOf }, { data, row: Minute, rows: data.minutes });
    },
  );
}

type Answer = {
  readonly data: Awaited<ReturnType<typeof reportRealtime>>;
  readonly asOf: string;
};

async function readAnswer(parts: ReportParts, organizationId: OrganizationId): Promise<Answer> {
  return parts.heavyReads.read(async (db) => {
    // Read before the numbers, so that it never claims more than they contain.
    const asOf = await readAsOf({ ...parts, db }, 'realtime');
    return { data: await reportRealtime(db, organizationId, Date.now()), asOf };
  });
}
