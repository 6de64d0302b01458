import type { Db } from '../../platform/database/database.ts';
import type { HttpApp } from '../../platform/http/app.ts';
import { principalOf } from '../../platform/http/principal.ts';
import { answers, Envelope, IdParams, ListEnvelope } from '../../platform/http/schemas.ts';
import type { Mutations } from '../../platform/idempotency/idempotency.ts';
import { listReports } from './queries.ts';
import {
  changeReport,
  createReport,
  deleteReport,
  maxReports,
  presentReport,
  requireReport,
} from './reports.ts';
import { DeletedReport, NewReport, ReportPatch, SavedReport } from './schemas.ts';

export type ReportRouteParts = {
  readonly db: Db;
  readonly mutations: Mutations;
  readonly hasMail: boolean;
};

const config = { access: 'secret' as const };
const tags = ['Reports'];

export function addReportRoutes(app: HttpApp, parts: ReportRouteParts): void {
  addReadRoutes(app, parts);
  addCreateRoute(app, parts);
  addChangeRoutes(app, parts);
}

function addReadRoutes(app: HttpApp, { db }: ReportRouteParts): void {
  app.get(
    '/v1/analytics/reports',
    {
      config,
      schema: {
        operationId: 'listReports',
        summary: 'List the saved reports',
        description: `Oldest first. There are at most ${maxReports}.`,
        tags,
        response: answers({ 200: ListEnvelope(SavedReport) }),
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const data = (await listReports(db, organizationId)).map(presentReport);
      return { data, meta: { total: data.length, nextCursor: null } };
    },
  );
  app.get(
    '/v1/analytics/reports/:id',
    {
      config,
      schema: {
        operationId: 'getReport',
        summary: 'Get a saved report',
        tags,
        params: IdParams,
        response: answers({ 200: Envelope(SavedReport) }),
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      return { data: presentReport(await requireReport(db, organizationId, request.params.id)) };
    },
  );
}

function addCreateRoute(app: HttpApp, { mutations, hasMail }: ReportRouteParts): void {
  app.post(
    '/v1/analytics/reports',
    {
      config,
      schema: {
        operationId: 'createReport',
        summary: 'Save a report',
        description:
          'Saves a report and its query under a name. With a `schedule`, it is run once at each due time and ' +
          'sent by mail or to webhooks.',
        tags,
        body: NewReport,
        response: answers({ 201: Envelope(SavedReport) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      return mutations.mutate(request, reply, async (tx) => ({
        statusCode: 201,
        data: presentReport(await createReport(tx, organizationId, request.body, hasMail)),
      }));
    },
  );
}

function addChangeRoutes(app: HttpApp, { mutations, hasMail }: ReportRouteParts): void {
  app.patch(
    '/v1/analytics/reports/:id',
    {
      config,
      schema: {
        operationId: 'updateReport',
        summary: 'Change a saved report',
        description: 'The next run is scheduled after the change. Its runs are kept.',
        tags,
        params: IdParams,
        body: ReportPatch,
        response: answers({ 200: Envelope(SavedReport) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      const { id } = request.params;
      return mutations.mutate(request, reply, async (tx) => ({
        data: presentReport(await changeReport(tx, { organizationId, id }, request.body, hasMail)),
      }));
    },
  );
  app.delete(
    '/v1/analytics/reports/:id',
    {
      config,
      schema: {
        operationId: 'deleteReport',
        summary: 'Delete a saved report',
        description: 'Also deletes its runs and links.',
        tags,
        params: IdParams,
        response: answers({ 200: Envelope(DeletedReport) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      return mutations.mutate(request, reply, async (tx) => {
        const id = await deleteReport(tx, organizationId, request.params.id);
        return { data: { id, deleted: true as const } };
      });
    },
  );
}
