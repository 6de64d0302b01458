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
import type { Storage } from '../../platform/storage/storage.ts';
import type { DownloadUrls } from './download-urls.ts';
import { exportFileUrl, readExportFile } from './export-files.ts';
import { createExport, noSuchExport, parseExportId, presentExport } from './exports.ts';
import { fileTypeOf } from './formats.ts';
import { countExports, findDownload, findExport, listExports } from './queries.ts';
import { DownloadQuery, Export, NewExport } from './schemas.ts';

export type ExportRouteParts = {
  readonly db: Db;
  readonly cursors: ListCursors;
  readonly mutations: Mutations;
  readonly storage: Storage;
  readonly urls: DownloadUrls;
  /** Called when an export waits for a worker. */
  readonly onQueued: () => void;
};

const tags = ['Exports'];
const config = { access: 'secret' as const };

export function addExportRoutes(app: HttpApp, parts: ExportRouteParts): void {
  addCreateRoute(app, parts);
  addReadRoutes(app, parts);
  addDownloadRoute(app, parts);
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
          'It is made in the background; the webhook event `export.ready` tells when. The file can ' +
          'be downloaded for seven days.',
        tags,
        body: NewExport,
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

function addReadRoutes(app: HttpApp, { db, cursors, urls }: ExportRouteParts): void {
  app.get(
    '/v1/exports',
    {
      config,
      schema: {
        operationId: 'listExports',
        summary: 'List exports',
        description: 'Newest first. They are kept for a month.',
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

function addDownloadRoute(app: HttpApp, { db, storage, urls }: ExportRouteParts): void {
  app.get(
    '/v1/exports/:id/download',
    {
      config: { access: 'public' },
      // Not in the description, like media files: the URL is handed out as it is.
      schema: { hide: true, params: IdParams, querystring: DownloadQuery },
    },
    async (request, reply) => {
      const exportId = parseExportId(request.params.id);
      const { expires, signature } = request.query;
      if (!urls.accepts(exportId, expires, signature, Date.now())) throw noSuchExport();
      const row = await findDownload(db, exportId);
      if (row === null) throw noSuchExport();
      const { ending, contentType } = fileTypeOf(row.format, row.compression);
      const name = `${row.dataset}-${row.start_day}-${row.end_day}.${ending}`;
      const contentDisposition = `attachment; filename="${name}"`;
      const key = { organizationId: row.organization_id, exportId, fileName: row.file_name };
      const url = await exportFileUrl(storage, key, { contentType, contentDisposition });
      if (url !== null) {
        return reply.header('cache-control', 'private, no-store').redirect(url, 302);
      }
      const file = await readExportFile(storage, key);
      if (file === null) throw noSuchExport();
      return reply
        .headers({
          'content-type': contentType,
          'content-disposition': contentDisposition,
          'content-length': file.lengthBytes,
          'cache-control': 'private, no-store',
          'content-security-policy': "sandbox; default-src 'none'",
          etag: file.etag,
        })
        .send(file.stream);
    },
  );
}
