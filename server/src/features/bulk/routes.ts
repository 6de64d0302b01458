import type { FastifyReply, FastifyRequest } from 'fastify';
import type { TSchema } from 'typebox';
import { inTransaction, type Db, type Tx } from '../../platform/database/database.ts';
import { principalOf } from '../../platform/http/principal.ts';
import { answers, Envelope } from '../../platform/http/schemas.ts';
import type { HttpApp } from '../../platform/http/app.ts';
import type { Mutations } from '../../platform/idempotency/idempotency.ts';
import type { OrganizationId } from '../../platform/values/ids.ts';
import { allowanceHeaders, AllowanceRefusal } from './allowance.ts';
import { deleteForGood, showItems, tagItems, updateItems, type BulkOutcome } from './bulk.ts';
import { settleAllowance } from './queries.ts';
import {
  BulkDelete,
  BulkDeleted,
  BulkShown,
  BulkTag,
  BulkTagged,
  BulkUpdate,
  BulkUpdated,
  BulkVisibility,
  DescribedBulkUpdate,
} from './schemas.ts';

export type BulkRouteParts = {
  db: Db;
  mutations: Mutations;
  /** Called after items were changed or deleted. */
  onChange: () => void;
};

const tags = ['Bulk operations'];
const limits =
  'An organization is limited to 60 requests and 1,000 items in any 60 seconds, as reported by the headers ' +
  '`RateLimit` and `RateLimit-Policy`.';

export function addBulkRoutes(app: HttpApp, parts: BulkRouteParts): void {
  app.post(
    '/v1/content/bulk/update',
    {
      config: {
        access: 'secret',
        checksText: true,
        describedBody: { 'application/json': { schema: DescribedBulkUpdate } },
      },
      schema: {
        operationId: 'bulkUpdateContent',
        summary: 'Change up to 100 content items',
        description: `Each item can be changed differently. ${limits}`,
        tags,
        body: BulkUpdate,
        response: responses(BulkUpdated),
      },
    },
    (request, reply) =>
      runBulk(parts, request, reply, (tx, id) => updateItems(tx, id, request.body)),
  );
  app.post(
    '/v1/content/bulk/delete',
    {
      config: { access: 'secret' },
      schema: {
        operationId: 'bulkDeleteContent',
        summary: 'Permanently delete up to 100 content items',
        description:
          'This cannot be undone. Archived items are accepted too. The items disappear from all responses immediately; their files and ' +
          `statistics are removed within 24 hours (\`GET /v1/purges\`). ${limits}`,
        tags,
        body: BulkDelete,
        response: responses(BulkDeleted),
      },
    },
    (request, reply) =>
      runBulk(parts, request, reply, (tx, id) => deleteForGood(tx, id, request.body)),
  );
  app.post(
    '/v1/content/bulk/tag',
    {
      config: { access: 'secret' },
      schema: {
        operationId: 'bulkTagContent',
        summary: 'Add and remove tags of up to 100 content items',
        description: `\`removeTags\` are applied after \`addTags\`, so a tag in both is removed. ${limits}`,
        tags,
        body: BulkTag,
        response: responses(BulkTagged),
      },
    },
    (request, reply) => runBulk(parts, request, reply, (tx, id) => tagItems(tx, id, request.body)),
  );
  app.post(
    '/v1/content/bulk/visibility',
    {
      config: { access: 'secret' },
      schema: {
        operationId: 'bulkSetVisibility',
        summary: 'Set the visibility of up to 100 content items',
        description: limits,
        tags,
        body: BulkVisibility,
        response: responses(BulkShown),
      },
    },
    (request, reply) => runBulk(parts, request, reply, (tx, id) => showItems(tx, id, request.body)),
  );
}

function responses<T extends TSchema>(data: T) {
  return answers({ 200: Envelope(data) });
}

type Operation = (tx: Tx, organizationId: OrganizationId) => Promise<BulkOutcome<unknown>>;

/** Runs an operation and sets the limit headers, which an idempotent replay does not repeat. */
async function runBulk(
  { db, mutations, onChange }: BulkRouteParts,
  request: FastifyRequest,
  reply: FastifyReply,
  operation: Operation,
): Promise<FastifyReply> {
  const { organizationId } = principalOf(request);
  try {
    await mutations.mutate(request, reply, async (tx) => {
      const { allowance, data } = await operation(tx, organizationId);
      reply.headers(allowanceHeaders(allowance));
      return { data };
    });
  } catch (error) {
    if (error instanceof AllowanceRefusal && error.clockWentBack) {
      await inTransaction(db, (tx) => settleAllowance(tx, organizationId));
    }
    throw error;
  }
  onChange();
  return reply;
}
