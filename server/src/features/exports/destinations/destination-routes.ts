import { Type } from 'typebox';
import type { HttpApp } from '../../../platform/http/app.ts';
import { principalOf } from '../../../platform/http/principal.ts';
import {
  answers,
  Closed,
  Envelope,
  IdParams,
  Nullable,
  OneOf,
  Timestamp,
} from '../../../platform/http/schemas.ts';
import { secretValue } from '../../../platform/http/secret-fields.ts';
import type { Mutations } from '../../../platform/idempotency/idempotency.ts';
import { DeletedExport, ExportFilter } from '../schemas.ts';
import { compressions } from '../tables.ts';
import { listDestinations } from './destination-queries.ts';
import {
  createDestination,
  deleteDestination,
  presentDestination,
  tryDestination,
  type DestinationParts,
} from './destinations.ts';

const every = OneOf(
  ['hour', 'day'] as const,
  'How often to push, a few minutes past the hour or past midnight.',
);

const NewDestination = Closed({
  bucket: Type.String({ pattern: '^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$', examples: ['acme-lake'] }),
  prefix: Type.Optional(
    Type.String({
      maxLength: 200,
      pattern: '^(?!.*\\.\\.)[A-Za-z0-9_=.-]+(/[A-Za-z0-9_=.-]+)*$',
      description: 'Folder under which everything is stored. Default: none.',
      examples: ['reelfeed'],
    }),
  ),
  region: Type.Optional(
    Type.String({ pattern: '^[a-z0-9-]{1,40}$', description: 'Default: us-east-1.' }),
  ),
  endpoint: Type.Optional(
    Type.String({
      maxLength: 500,
      description: 'URL of an S3-compatible server, with https and a public address. Default: AWS.',
      examples: ['https://storage.googleapis.com'],
    }),
  ),
  pathStyle: Type.Optional(
    Type.Boolean({
      description:
        'Whether URLs contain the bucket in their path. Default: true if `endpoint` is set.',
    }),
  ),
  accessKeyId: Type.String({ minLength: 1, maxLength: 200, ...secretValue }),
  secretAccessKey: Type.String({
    minLength: 1,
    maxLength: 500,
    description: 'Stored encrypted and never shown. It only needs permission to put objects.',
    ...secretValue,
  }),
  every,
  compression: Type.Optional(OneOf(compressions, 'Compression of the pages. Default: zstd.')),
  filter: Type.Optional(ExportFilter),
  startDate: Type.Optional(
    Type.String({
      description: 'Pushes events received since the start of this day. Default: from now on.',
      examples: ['2026-01-31'],
    }),
  ),
});

const Destination = Type.Object(
  {
    id: Type.String({ examples: ['dxd_01jd0000000000000000000000'] }),
    dataset: OneOf(['events'] as const),
    bucket: Type.String(),
    prefix: Type.String(),
    region: Nullable(Type.String()),
    endpoint: Nullable(Type.String()),
    pathStyle: Type.Boolean(),
    every,
    compression: OneOf(compressions),
    filter: Type.Partial(ExportFilter),
    timeZone: Type.String({ description: 'Time zone that divides events into days.' }),
    status: OneOf(['waiting', 'pushing'] as const),
    batches: Type.Integer({ description: 'Number of manifests in the bucket.' }),
    pushedRows: Type.Integer(),
    pushedAt: Nullable(Timestamp),
    nextPushAt: Timestamp,
    error: Nullable(
      Type.String({ description: 'Why the last attempt failed. It will be retried.' }),
    ),
    createdAt: Timestamp,
  },
  { title: 'ExportDestination' },
);

const tags = ['Exports'];
const config = { access: 'secret', role: 'admin' } as const;

type Parts = DestinationParts & { readonly mutations: Mutations };

export function addDestinationRoutes(app: HttpApp, parts: Parts): void {
  const { db, egress, mutations } = parts;
  app.post(
    '/v1/exports/destinations',
    {
      config,
      schema: {
        operationId: 'createExportDestination',
        summary: 'Push events to a bucket',
        description:
          'Events are written to your own bucket as Parquet files partitioned by day, every hour or every day. ' +
          'The bucket is tested first by writing `_schema.json` to it.',
        tags,
        body: NewDestination,
        response: answers({ 201: Envelope(Destination) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      await tryDestination(egress, request.body);
      return mutations.mutate(request, reply, async (tx) => ({
        statusCode: 201,
        data: presentDestination(await createDestination(tx, parts, organizationId, request.body)),
      }));
    },
  );

  app.get(
    '/v1/exports/destinations',
    {
      config,
      schema: {
        operationId: 'listExportDestinations',
        summary: 'List export destinations',
        description: 'Oldest first. There are at most five. Credentials are never shown.',
        tags,
        response: answers({ 200: Envelope(Type.Array(Destination)) }),
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      return { data: (await listDestinations(db, organizationId)).map(presentDestination) };
    },
  );

  app.delete(
    '/v1/exports/destinations/:id',
    {
      config,
      schema: {
        operationId: 'deleteExportDestination',
        summary: 'Stop pushing to a bucket',
        description: 'Files in the bucket are kept.',
        tags,
        params: IdParams,
        response: answers({ 200: Envelope(DeletedExport) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      return mutations.mutate(request, reply, async (tx) => {
        const id = await deleteDestination(tx, organizationId, request.params.id);
        return { data: { id, deleted: true } };
      });
    },
  );
}
