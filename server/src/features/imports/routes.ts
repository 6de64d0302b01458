import type { Db } from '../../platform/database/database.ts';
import type { HttpApp } from '../../platform/http/app.ts';
import { principalOf } from '../../platform/http/principal.ts';
import { answers, Envelope } from '../../platform/http/schemas.ts';
import type { Mutations } from '../../platform/idempotency/idempotency.ts';
import { presentItem, type MediaUrls } from '../content/content.ts';
import { checkItems, type SourceRules } from './check-items.ts';
import { createImports, type Imported } from './imports.ts';
import { DescribedImport, ImportResults, NewImport } from './schemas.ts';

export type ImportRouteParts = {
  db: Db;
  sourceRules: SourceRules;
  mutations: Mutations;
  urls: MediaUrls;
  /** Called when an import is waiting for a worker. */
  onQueued: () => void;
};

export function addImportRoutes(app: HttpApp, parts: ImportRouteParts): void {
  const { sourceRules, mutations, urls, onQueued } = parts;
  app.post(
    '/v1/content/import',
    {
      config: {
        access: 'secret',
        checksText: true,
        describedBody: { 'application/json': { schema: DescribedImport } },
      },
      schema: {
        operationId: 'importContent',
        summary: 'Import up to 100 videos and image carousels from URLs',
        description:
          'The items are created immediately and their bytes are fetched in the background. For an `externalId` ' +
          'that already has an item, that item is returned. An item with an invalid value fails individually.',
        tags: ['Content'],
        body: NewImport,
        response: answers({ 201: Envelope(ImportResults) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      await mutations.mutateAfter(
        request,
        reply,
        () => checkItems(sourceRules, request.body.items),
        async (tx, checked) => ({
          statusCode: 201,
          data: present(await createImports(tx, organizationId, checked), urls),
        }),
      );
      onQueued();
      return reply;
    },
  );
}

type Created = Awaited<ReturnType<typeof createImports>>;

function present({ imported, importId }: Created, urls: MediaUrls) {
  const count = (status: Imported['status']) =>
    imported.filter((one) => one.status === status).length;
  return {
    results: imported.map((one, index) =>
      one.status === 'failed'
        ? { index, status: one.status, error: one.error }
        : { index, status: one.status, item: presentItem(one.row, urls) },
    ),
    importId,
    totalCreated: count('created'),
    totalExisting: count('existing'),
    totalFailed: count('failed'),
  };
}
