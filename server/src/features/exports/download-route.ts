import { Readable } from 'node:stream';
import type { Db } from '../../platform/database/database.ts';
import type { HttpApp } from '../../platform/http/app.ts';
import { isNotModified, isRangeCurrent } from '../../platform/http/conditional.ts';
import { IdParams } from '../../platform/http/schemas.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import type { DownloadUrls } from './download-urls.ts';
import { exportFileUrl, headExportFile, readExportFile } from './export-files.ts';
import { noSuchExport, parseExportId } from './exports.ts';
import { fileTypeOf } from './formats/formats.ts';
import { findDownload } from './queries.ts';
import { DownloadQuery } from './schemas.ts';

type Parts = { readonly db: Db; readonly storage: Storage; readonly urls: DownloadUrls };

/** Serves a file completely, as a byte range, or as 304, so that a broken download can resume. */
export function addDownloadRoute(app: HttpApp, { db, storage, urls }: Parts): void {
  app.get(
    '/v1/exports/:id/download',
    {
      config: { access: 'public' },
      // Hidden from the API description, like media files: clients use the URL as given.
      schema: { hide: true, params: IdParams, querystring: DownloadQuery },
    },
    async (request, reply) => {
      const exportId = parseExportId(request.params.id);
      const { expires, signature } = request.query;
      if (!urls.accepts(exportId, expires, signature, Date.now())) throw noSuchExport();
      const row = await findDownload(db, exportId);
      if (row === null) throw noSuchExport();
      const { ending, contentType } = fileTypeOf(row);
      const name = `${row.dataset}-${row.start_day}-${row.end_day}.${ending}`;
      const contentDisposition = `attachment; filename="${name}"`;
      const key = { organizationId: row.organization_id, exportId, fileName: row.file_name };
      const url = await exportFileUrl(storage, key, { contentType, contentDisposition });
      if (url !== null) {
        return reply.header('cache-control', 'private, no-store').redirect(url, 302);
      }
      const file = await headExportFile(storage, key);
      if (file === null) throw noSuchExport();
      reply.headers({
        'content-type': contentType,
        'content-disposition': contentDisposition,
        'cache-control': 'private, no-store',
        'content-security-policy': "sandbox; default-src 'none'",
        'accept-ranges': 'bytes',
        etag: file.etag,
        'last-modified': file.modifiedAt.toUTCString(),
      });
      if (isNotModified(request.headers, file)) return reply.status(304).send();
      if (request.method === 'HEAD') {
        // With no body, Fastify would set the length to 0.
        return reply.header('content-length', file.sizeBytes).send(Readable.from([]));
      }
      const range = isRangeCurrent(request.headers, file) ? request.headers.range : undefined;
      const read = await readExportFile(storage, key, reply, range);
      if (read === null) throw noSuchExport();
      return reply.header('content-length', read.lengthBytes).send(read.stream);
    },
  );
}
