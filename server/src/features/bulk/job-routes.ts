import type { Db } from '../../platform/database/database.ts';
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
import type { HttpApp } from '../../platform/http/app.ts';
import type { Mutations } from '../../platform/idempotency/idempotency.ts';
import type { BulkJobId } from '../../platform/values/ids.ts';
import {
  cancelBulkJob,
  createBulkJob,
  getBulkJob,
  presentBulkJob,
  presentCreatedJob,
  previewBulkJob,
} from './bulk-job.ts';
import { countJobs, listFailures, listJobs } from './queries.ts';
import {
  BulkJob,
  BulkJobFailure,
  BulkJobListQuery,
  BulkJobPreview,
  CreatedBulkJob,
  ListedBulkJob,
  NewBulkJob,
} from './schemas.ts';

export type BulkJobRouteParts = {
  db: Db;
  cursors: ListCursors;
  mutations: Mutations;
  /** Called when a job is waiting for a worker. */
  onQueued: () => void;
};

const tags = ['Bulk jobs'];
const config = { access: 'secret' as const };

export function addBulkJobRoutes(app: HttpApp, parts: BulkJobRouteParts): void {
  addChangeRoutes(app, parts);
  addReadRoutes(app, parts);
  addFailureRoute(app, parts);
}

function addChangeRoutes(app: HttpApp, { db, mutations, onQueued }: BulkJobRouteParts): void {
  app.post(
    '/v1/content/bulk/jobs',
    {
      config,
      schema: {
        operationId: 'createBulkJob',
        summary: 'Change every content item that matches a filter',
        description:
          'Suitable for thousands of items. Affects the items that match now: items that match later ' +
          'are not changed. With `dryRun`, only returns the number of matching items.',
        tags,
        body: NewBulkJob,
        response: answers({ 200: Envelope(BulkJobPreview), 201: Envelope(CreatedBulkJob) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      if (request.body.dryRun === true) {
        return { data: await previewBulkJob(db, organizationId, request.body) };
      }
      await mutations.mutate(request, reply, async (tx) => {
        const job = await createBulkJob(tx, organizationId, request.body);
        return { statusCode: 201, data: presentCreatedJob(job) };
      });
      onQueued();
      return reply;
    },
  );

  app.post(
    '/v1/content/bulk/jobs/:id/cancel',
    {
      config,
      schema: {
        operationId: 'cancelBulkJob',
        summary: 'Cancel a bulk job',
        description: 'Changes already made are kept. No item is changed after the response.',
        tags,
        params: IdParams,
        response: answers({ 200: Envelope(BulkJob) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      return mutations.mutate(request, reply, async (tx) => ({
        data: presentBulkJob(await cancelBulkJob(tx, organizationId, request.params.id)),
      }));
    },
  );
}

function addReadRoutes(app: HttpApp, { db, cursors }: BulkJobRouteParts): void {
  app.get(
    '/v1/content/bulk/jobs',
    {
      config,
      schema: {
        operationId: 'listBulkJobs',
        summary: 'List bulk jobs',
        description: 'Newest first. Jobs are kept for 30 days after they end.',
        tags,
        querystring: BulkJobListQuery,
        response: answers({ 200: ListEnvelope(ListedBulkJob) }),
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const { status = null, ...page } = request.query;
      return readPage(cursors, { list: 'bulk-jobs', organizationId, filter: { status } }, page, {
        count: () => countJobs(db, organizationId, status),
        read: (limit, after) =>
          listJobs(db, organizationId, status, {
            limit,
            after: momentAndId(after),
          }),
        position: (row) => [row.position, row.bulk_job_id],
        present: (row) => ({
          ...presentBulkJob(row),
          operation: row.operation,
          filter: row.filter,
          update: row.changes,
        }),
      });
    },
  );

  app.get(
    '/v1/content/bulk/jobs/:id',
    {
      config,
      schema: {
        operationId: 'getBulkJob',
        summary: 'Get the progress of a bulk job',
        tags,
        params: IdParams,
        response: answers({ 200: Envelope(BulkJob) }),
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      return { data: presentBulkJob(await getBulkJob(db, organizationId, request.params.id)) };
    },
  );
}

function addFailureRoute(app: HttpApp, { db, cursors }: BulkJobRouteParts): void {
  app.get(
    '/v1/content/bulk/jobs/:id/failures',
    {
      config,
      schema: {
        operationId: 'listBulkJobFailures',
        summary: 'List the items that a bulk job could not change',
        description: 'Sorted by id. Available while the job runs.',
        tags,
        params: IdParams,
        querystring: Closed(pageQuery),
        response: answers({ 200: ListEnvelope(BulkJobFailure) }),
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const job = await getBulkJob(db, organizationId, request.params.id);
      const jobId = job.bulk_job_id as BulkJobId;
      const scope = { list: 'bulk-job-failures', organizationId, filter: { jobId } };
      return readPage(cursors, scope, request.query, {
        count: async () => job.failed_items,
        read: (limit, after) =>
          listFailures(db, organizationId, jobId, { limit, after: after && String(after[0]) }),
        position: (row) => [row.content_id],
        present: ({ content_id: id, code, message }) => ({ id, error: { code, message } }),
      });
    },
  );
}
