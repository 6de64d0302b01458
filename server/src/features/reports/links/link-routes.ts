/** Routes for links to saved reports, and the page they open. */
import { Type } from 'typebox';
import { coalesce } from '../../../platform/async/coalesce.ts';
import { wantsCsv } from '../../../platform/values/csv.ts';
import type { Db } from '../../../platform/database/database.ts';
import type { HttpApp } from '../../../platform/http/app.ts';
import { ApiError } from '../../../platform/http/errors.ts';
import { principalOf } from '../../../platform/http/principal.ts';
import {
  answers,
  Envelope,
  IdParams,
  ListEnvelope,
  OneOf,
} from '../../../platform/http/schemas.ts';
import { newTypeId, type OrganizationId } from '../../../platform/values/ids.ts';
import type { Mutations } from '../../../platform/idempotency/idempotency.ts';
import { formatTimestamp } from '../../../platform/values/time.ts';
import type { RunReport } from '../../analytics/analytics.ts';
import { readOrganizationClock } from '../../organizations/organizations.ts';
import { requireReport } from '../reports.ts';
import { completeDaysOf } from '../schedule.ts';
import { DeletedReport, Link, LinkParams, NewLink } from '../schemas.ts';
import {
  deleteReportLink,
  findLinked,
  insertReportLink,
  selectLinks,
  type ReportLinkRow,
} from './link-queries.ts';
import type { LinkUrls } from './link-urls.ts';
import { linkedPage, linkedPageHeaders } from './linked-page.ts';

export type LinkParts = {
  readonly db: Db;
  readonly mutations: Mutations;
  readonly runReport: RunReport;
  readonly urls: LinkUrls;
};

const config = { access: 'secret' as const };
const tags = ['Reports'];
const defaultDays = 30;
const maxLinks = 100;

export function addReportLinkRoutes(app: HttpApp, parts: LinkParts): void {
  addListRoute(app, parts);
  addCreateRoute(app, parts);
  addDeleteRoute(app, parts);
  addLinkedRoute(app, parts);
}

function presentLink(urls: LinkUrls, { linkId, createdAt, expiresAt }: ReportLinkRow) {
  return {
    id: linkId,
    url: urls.sign(linkId),
    createdAt: formatTimestamp(createdAt),
    expiresAt: formatTimestamp(expiresAt),
  };
}

function addListRoute(app: HttpApp, { db, urls }: LinkParts): void {
  app.get(
    '/v1/analytics/reports/:id/links',
    {
      config,
      schema: {
        operationId: 'listReportLinks',
        summary: 'List the links to a report',
        description: 'Returns the active links, newest first.',
        tags,
        params: IdParams,
        response: answers({ 200: ListEnvelope(Link) }),
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const { reportId } = await requireReport(db, organizationId, request.params.id);
      const data = (await selectLinks(db, reportId)).map((row) => presentLink(urls, row));
      return { data, meta: { total: data.length, nextCursor: null } };
    },
  );
}

function addCreateRoute(app: HttpApp, { mutations, urls }: LinkParts): void {
  app.post(
    '/v1/analytics/reports/:id/links',
    {
      config,
      schema: {
        operationId: 'createReportLink',
        summary: 'Create a link to a report',
        description: 'The link opens a page with the report, readable by anyone who has the link.',
        tags,
        params: IdParams,
        body: NewLink,
        response: answers({ 201: Envelope(Link) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      const { expiresInDays = defaultDays } = request.body;
      return mutations.mutate(request, reply, async (tx) => {
        const { reportId } = await requireReport(tx, organizationId, request.params.id);
        if ((await selectLinks(tx, reportId)).length >= maxLinks) {
          throw new ApiError('CONFLICT', { message: `There are already ${maxLinks} links.` });
        }
        const link = await insertReportLink(tx, reportId, newTypeId('rln'), expiresInDays);
        return { statusCode: 201, data: presentLink(urls, link) };
      });
    },
  );
}

function addDeleteRoute(app: HttpApp, { mutations }: LinkParts): void {
  app.delete(
    '/v1/analytics/reports/:id/links/:linkId',
    {
      config,
      schema: {
        operationId: 'deleteReportLink',
        summary: 'Revoke a link to a report',
        description: 'The link stops working before the response is sent.',
        tags,
        params: LinkParams,
        response: answers({ 200: Envelope(DeletedReport) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      const { id, linkId } = request.params;
      return mutations.mutate(request, reply, async (tx) => {
        const { reportId } = await requireReport(tx, organizationId, id);
        if (!(await deleteReportLink(tx, reportId, linkId))) throw new ApiError('NOT_FOUND');
        return { data: { id: linkId, deleted: true as const } };
      });
    },
  );
}

/** Anyone may reload a link repeatedly, and a report may read a month of facts. */
const maxAgeMs = 30_000;
const maxReaders = 500;

function addLinkedRoute(app: HttpApp, parts: LinkParts): void {
  const { db, urls } = parts;
  const readers = new Map<string, () => ReturnType<typeof readLinked>>();
  const read = (organizationId: OrganizationId, reportId: string) => {
    let reader = readers.get(reportId);
    if (reader === undefined) {
      if (readers.size >= maxReaders) readers.clear();
      reader = coalesce(() => readLinked(parts, organizationId, reportId), maxAgeMs);
      readers.set(reportId, reader);
    }
    return reader();
  };
  app.get(
    '/shared/reports/:linkId/:signature',
    {
      config: { access: 'public' },
      // Hidden from the API description, like media files: clients use the URL as given.
      schema: {
        hide: true,
        params: Type.Object({
          linkId: Type.String({ maxLength: 100 }),
          signature: Type.String({ maxLength: 100 }),
        }),
        querystring: Type.Object({
          format: Type.Optional(OneOf(['html', 'json', 'csv'] as const)),
        }),
      },
    },
    async (request, reply) => {
      const { linkId, signature } = request.params;
      const linked = urls.accepts(linkId, signature) ? await findLinked(db, linkId) : null;
      if (linked === null) throw new ApiError('NOT_FOUND');
      const { row, days, run } = await read(linked.organizationId, linked.reportId);
      reply.headers({
        'cache-control': 'private, no-store',
        'referrer-policy': 'no-referrer',
        'x-robots-tag': 'noindex',
        vary: 'Accept',
      });
      const format = request.query.format ?? (wantsCsv(request.headers.accept) ? 'csv' : 'html');
      if (format === 'json') return { data: { ...days, ...run.data }, meta: { asOf: run.asOf } };
      if (format === 'csv') return reply.type('text/csv; charset=utf-8').send(run.csv);
      return reply.headers(linkedPageHeaders).send(linkedPage(row, days, run));
    },
  );
}

async function readLinked(
  { db, runReport }: LinkParts,
  organizationId: OrganizationId,
  reportId: string,
) {
  const row = await requireReport(db, organizationId, reportId);
  const days = completeDaysOf(
    row.range,
    await readOrganizationClock(db, organizationId),
    Date.now(),
  );
  return { row, days, run: await runReport(organizationId, row.report, { ...row.query, ...days }) };
}
