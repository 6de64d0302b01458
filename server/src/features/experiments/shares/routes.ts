import { Type } from 'typebox';
import { wantsCsv } from '../../../platform/values/csv.ts';
import type { Db } from '../../../platform/database/database.ts';
import type { HttpApp } from '../../../platform/http/app.ts';
import { ApiError } from '../../../platform/http/errors.ts';
import { principalOf } from '../../../platform/http/principal.ts';
import {
  answers,
  Closed,
  Envelope,
  IdParams,
  ListEnvelope,
  OneOf,
  Timestamp,
} from '../../../platform/http/schemas.ts';
import { secretValue } from '../../../platform/http/secret-fields.ts';
import { newTypeId, type OrganizationId } from '../../../platform/values/ids.ts';
import type { Mutations } from '../../../platform/idempotency/idempotency.ts';
import { formatTimestamp } from '../../../platform/values/time.ts';
import { readReport } from '../report.ts';
import { reportCsv } from '../report-csv.ts';
import { experimentConfig, getExperiment, experimentTags } from '../routes.ts';
import { deleteShare, findShared, insertShare, selectShares, type ShareRow } from './queries.ts';
import type { ShareUrls } from './share-urls.ts';
import { sharedPage, sharedPageHeaders } from './shared-page.ts';

type Parts = { readonly db: Db; readonly mutations: Mutations; readonly urls: ShareUrls };

const Share = Type.Object(
  {
    id: Type.String({ examples: ['shr_01kabc5m8nfe8v8q1m2vr5t9zd'] }),
    url: Type.String({
      ...secretValue,
      description:
        'URL that shows the results to anyone who has it. With `?format=csv` or `?format=json`, it returns data.',
    }),
    createdAt: Timestamp,
    expiresAt: Timestamp,
  },
  { title: 'ResultsLink' },
);
const ShareParams = Type.Object({
  id: Type.String({ maxLength: 512 }),
  shareId: Type.String({ maxLength: 512 }),
});
const defaultDays = 30;
const maxShares = 100;

export function addShareRoutes(app: HttpApp, parts: Parts): void {
  addListRoute(app, parts);
  addCreateRoute(app, parts);
  addDeleteRoute(app, parts);
  addSharedRoute(app, parts);
}

function presentShare(urls: ShareUrls, { shareId, createdAt, expiresAt }: ShareRow) {
  return {
    id: shareId,
    url: urls.sign(shareId),
    createdAt: formatTimestamp(createdAt),
    expiresAt: formatTimestamp(expiresAt),
  };
}

function addListRoute(app: HttpApp, { db, urls }: Parts): void {
  app.get(
    '/v1/experiments/:id/shares',
    {
      config: experimentConfig,
      schema: {
        operationId: 'listResultsLinks',
        summary: 'List the links to the results of an experiment',
        description: 'Returns the active links, newest first.',
        tags: experimentTags,
        params: IdParams,
        response: answers({ 200: ListEnvelope(Share) }),
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const { number } = await getExperiment(db, organizationId, request.params.id);
      const rows = await selectShares(db, number);
      const data = rows.map((row) => presentShare(urls, row));
      return { data, meta: { total: data.length, nextCursor: null } };
    },
  );
}

function addCreateRoute(app: HttpApp, { mutations, urls }: Parts): void {
  app.post(
    '/v1/experiments/:id/shares',
    {
      config: experimentConfig,
      schema: {
        operationId: 'createResultsLink',
        summary: 'Create a link to the results of an experiment',
        description: 'The link opens a read-only page for anyone who has it.',
        tags: experimentTags,
        params: IdParams,
        body: Closed({
          expiresInDays: Type.Optional(
            Type.Integer({ minimum: 1, maximum: 365, default: defaultDays }),
          ),
        }),
        response: answers({ 201: Envelope(Share) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      const { expiresInDays = defaultDays } = request.body;
      return mutations.mutate(request, reply, async (tx) => {
        const row = await getExperiment(tx, organizationId, request.params.id);
        if ((await selectShares(tx, row.number)).length >= maxShares) {
          throw new ApiError('CONFLICT', { message: `There are already ${maxShares} links.` });
        }
        const share = await insertShare(tx, row, newTypeId('shr'), expiresInDays);
        return { statusCode: 201, data: presentShare(urls, share) };
      });
    },
  );
}

function addDeleteRoute(app: HttpApp, { mutations }: Parts): void {
  app.delete(
    '/v1/experiments/:id/shares/:shareId',
    {
      config: experimentConfig,
      schema: {
        operationId: 'deleteResultsLink',
        summary: 'Revoke a link to results',
        description: 'The link stops working before the response is sent.',
        tags: experimentTags,
        params: ShareParams,
        response: answers({
          200: Envelope(Type.Object({ id: Type.String(), deleted: Type.Literal(true) })),
        }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      const { id, shareId } = request.params;
      return mutations.mutate(request, reply, async (tx) => {
        const { number } = await getExperiment(tx, organizationId, id);
        if (!(await deleteShare(tx, number, shareId))) throw new ApiError('NOT_FOUND');
        return { data: { id: shareId, deleted: true } };
      });
    },
  );
}

function addSharedRoute(app: HttpApp, { db, urls }: Parts): void {
  app.get(
    '/shared/experiments/:shareId/:signature',
    {
      config: { access: 'public' },
      // Hidden from the API description, like media files: clients use the URL as given.
      schema: {
        hide: true,
        params: Type.Object({
          shareId: Type.String({ maxLength: 100 }),
          signature: Type.String({ maxLength: 100 }),
        }),
        querystring: Type.Object({
          format: Type.Optional(OneOf(['html', 'json', 'csv'] as const)),
        }),
      },
    },
    async (request, reply) => {
      const { shareId, signature } = request.params;
      const shared = urls.accepts(shareId, signature) ? await findShared(db, shareId) : null;
      if (shared === null) throw new ApiError('NOT_FOUND');
      const { organizationId, experimentId } = shared;
      const row = await getExperiment(db, organizationId as OrganizationId, experimentId);
      const report = await readReport(db, row, {});
      reply.headers({
        'cache-control': 'private, no-store',
        'referrer-policy': 'no-referrer',
        'x-robots-tag': 'noindex',
        vary: 'Accept',
      });
      const format = request.query.format ?? (wantsCsv(request.headers.accept) ? 'csv' : 'html');
      if (format === 'json') return { data: report };
      if (format === 'csv') return reply.type('text/csv; charset=utf-8').send(reportCsv(report));
      return reply.headers(sharedPageHeaders).send(sharedPage(row, report));
    },
  );
}
