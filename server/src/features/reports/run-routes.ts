import { wantsCsv } from '../../platform/values/csv.ts';
import type { Db } from '../../platform/database/database.ts';
import type { HttpApp } from '../../platform/http/app.ts';
import { ApiError } from '../../platform/http/errors.ts';
import { momentAndId, readPage, type ListCursors } from '../../platform/http/list-cursor.ts';
import { principalOf } from '../../platform/http/principal.ts';
import {
  answers,
  Closed,
  Envelope,
  IdParams,
  ListEnvelope,
  pageQuery,
} from '../../platform/http/schemas.ts';
import type { Mutations } from '../../platform/idempotency/idempotency.ts';
import { countRuns, findRun, listReportRuns } from './queries.ts';
import { requireReport } from './reports.ts';
import { presentMadeRun, presentRun, startRun } from './runs.ts';
import { Run, RunParams, RunWithData } from './schemas.ts';

export type RunRouteParts = {
  readonly db: Db;
  readonly cursors: ListCursors;
  readonly mutations: Mutations;
  readonly onQueued: () => void;
};

const config = { access: 'secret' as const };
const tags = ['Reports'];

export function addRunRoutes(app: HttpApp, parts: RunRouteParts): void {
  addRunRoute(app, parts);
  addListRoute(app, parts);
  addGetRoute(app, parts);
}

function addRunRoute(app: HttpApp, { mutations, onQueued }: RunRouteParts): void {
  app.post(
    '/v1/analytics/reports/:id/runs',
    {
      config,
      schema: {
        operationId: 'runReport',
        summary: 'Run a saved report now',
        description: 'The report is mailed and sent to webhooks as on its schedule.',
        tags,
        params: IdParams,
        response: answers({ 201: Envelope(Run) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      return mutations.mutate(request, reply, async (tx) => {
        const row = await requireReport(tx, organizationId, request.params.id);
        const run = await startRun(tx, row, null);
        if (run === null) throw new Error('A run without a due time was not stored.');
        return { statusCode: 201, data: presentRun(run), onCommit: onQueued };
      });
    },
  );
}

function addListRoute(app: HttpApp, { db, cursors }: RunRouteParts): void {
  app.get(
    '/v1/analytics/reports/:id/runs',
    {
      config,
      schema: {
        operationId: 'listReportRuns',
        summary: 'List the runs of a report',
        description: 'Newest first, for the last 90 days.',
        tags,
        params: IdParams,
        querystring: Closed(pageQuery),
        response: answers({ 200: ListEnvelope(Run) }),
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const { reportId } = await requireReport(db, organizationId, request.params.id);
      const scope = { list: 'report runs', organizationId, filter: { reportId } };
      return readPage(cursors, scope, request.query, {
        count: () => countRuns(db, reportId),
        read: (limit, after) => listReportRuns(db, reportId, { limit, after: momentAndId(after) }),
        position: ({ createdAt, runId }) => [createdAt.toISOString(), runId],
        present: presentRun,
      });
    },
  );
}

function addGetRoute(app: HttpApp, { db }: RunRouteParts): void {
  app.get(
    '/v1/analytics/reports/:id/runs/:runId',
    {
      config,
      schema: {
        operationId: 'getReportRun',
        summary: 'Get the result of a report run',
        description: 'With `Accept: text/csv`, returns its rows.',
        tags,
        params: RunParams,
        response: answers({ 200: Envelope(RunWithData) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      const { reportId } = await requireReport(db, organizationId, request.params.id);
      const run = await findRun(db, reportId, request.params.runId);
      if (run === null)
        throw new ApiError('NOT_FOUND', { message: 'There is no run with this id.' });
      reply.header('vary', 'Accept');
      if (run.csv !== null && wantsCsv(request.headers.accept)) {
        await reply.type('text/csv; charset=utf-8').send(run.csv);
      }
      return { data: presentMadeRun(run) };
    },
  );
}
