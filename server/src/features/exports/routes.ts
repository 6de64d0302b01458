import { Type } from 'typebox';
import type { Db } from '../../platform/database/database.ts';
import type { HttpApp } from '../../platform/http/app.ts';
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
import type { DownloadUrls } from './download-urls.ts';
import { datasetReaders } from './datasets/datasets.ts';
import {
  cancelExport,
  createExport,
  deleteExport,
  noSuchExport,
  parseExportId,
  presentExport,
} from './exports.ts';
import { countExports, findExport, listExports } from './queries.ts';
import { DatasetSchema, DeletedExport, Export, NewExportBody } from './schemas.ts';
import { datasets } from './tables.ts';

export type ExportRouteParts = {
  readonly db: Db;
  readonly cursors: ListCursors;
  readonly mutations: Mutations;
  readonly urls: DownloadUrls;
  /** Called when an export is waiting for a worker. */
  readonly onQueued: () => void;
};

const tags = ['Exports'];
const config = { access: 'secret', role: 'analyst' } as const;

export function addExportRoutes(app: HttpApp, parts: ExportRouteParts): void {
  addCreateRoute(app, parts);
  addEndRoutes(app, parts);
  addSchemaRoute(app);
  addReadRoutes(app, parts);
}

function addCreateRoute(app: HttpApp, { mutations, urls, onQueued }: ExportRouteParts): void {
  app.post(
    '/v1/exports',
    {
      config,
      schema: {
        operationId: 'createExport',
        summary: 'Export events, content or metrics as a file',
        description:
          'The export runs in the background; the webhook event `export.ready` reports its completion. The file can ' +
          'be downloaded for seven days.',
        tags,
        body: NewExportBody,
        response: answers({ 201: Envelope(Export) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      await mutations.mutate(request, reply, async (tx) => {
        const row = await createExport(tx, organizationId, request.body);
        return { statusCode: 201, data: presentExport(row, urls) };
      });
      onQueued();
      return reply;
    },
  );
}

function addEndRoutes(app: HttpApp, { mutations, urls, onQueued }: ExportRouteParts): void {
  app.post(
    '/v1/exports/:id/cancel',
    {
      config,
      schema: {
        operationId: 'cancelExport',
        summary: 'Cancel an export',
        description: 'The export stops within seconds, and everything it has written is removed.',
        tags,
        params: IdParams,
        response: answers({ 200: Envelope(Export) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      const exportId = parseExportId(request.params.id);
      return mutations.mutate(request, reply, async (tx) => ({
        data: presentExport(await cancelExport(tx, { organizationId, exportId }), urls),
      }));
    },
  );

  app.delete(
    '/v1/exports/:id',
    {
      config,
      schema: {
        operationId: 'deleteExport',
        summary: 'Delete an export',
        description:
          'Deletes the export and its file in any state. A running download ends immediately.',
        tags,
        params: IdParams,
        response: answers({ 200: Envelope(DeletedExport) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      const exportId = parseExportId(request.params.id);
      return mutations.mutate(request, reply, async (tx) => {
        await deleteExport(tx, { organizationId, exportId });
        return { data: { id: exportId, deleted: true }, onCommit: onQueued };
      });
    },
  );
}

function addSchemaRoute(app: HttpApp): void {
  const data = datasets.map((dataset) => {
    const { about: description, filters, columns } = datasetReaders[dataset];
    return {
      dataset,
      description,
      filters: [...filters],
      columns: columns.map(({ name, type, about }) => ({ name, type, description: about })),
    };
  });
  app.get(
    '/v1/exports/schemas',
    {
      config,
      schema: {
        operationId: 'listExportSchemas',
        summary: 'List the datasets with their columns',
        description: 'New columns may be added after the existing ones.',
        tags,
        response: answers({ 200: Envelope(Type.Array(DatasetSchema)) }),
      },
    },
    async () => ({ data }),
  );
}

function addReadRoutes(app: HttpApp, { db, cursors, urls }: ExportRouteParts): void {
  app.get(
    '/v1/exports',
    {
      config,
      schema: {
        operationId: 'listExports',
        summary: 'List exports',
        description: 'Newest first. Exports are kept for a month.',
        tags,
        querystring: Closed(pageQuery),
        response: answers({ 200: ListEnvelope(Export) }),
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const scope = { list: 'exports', organizationId, filter: null };
      return readPage(cursors, scope, request.query, {
        count: () => countExports(db, organizationId),
        read: (limit, after) =>
          listExports(db, organizationId, {
            limit,
            after: momentAndId(after),
          }),
        position: (row) => [row.position, row.export_id],
        present: (row) => presentExport(row, urls),
      });
    },
  );

  app.get(
    '/v1/exports/:id',
    {
      config,
      schema: {
        operationId: 'getExport',
        summary: 'Get an export',
        tags,
        params: IdParams,
        response: answers({ 200: Envelope(Export) }),
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const exportId = parseExportId(request.params.id);
      const row = await findExport(db, { organizationId, exportId });
      if (row === null) throw noSuchExport();
      return { data: presentExport(row, urls) };
    },
  );
}
