import { Type } from 'typebox';
import { Nullable, Timestamp } from '../../platform/http/schemas.ts';
import { webhookEvent, type EventsOf } from '../webhooks/webhooks.ts';

const at = '2026-01-31T12:00:00.000Z';
const later = '2026-01-31T12:00:01.000Z';

export const bulkJobEvents = {
  'bulk_job.complete': webhookEvent(
    'A bulk job has finished.',
    Type.Object({
      jobId: Type.String(),
      status: Type.String(),
      operation: Type.String(),
      totalItems: Type.Integer(),
      processedItems: Type.Integer(),
      successfulItems: Type.Integer(),
      failedItems: Type.Integer(),
      createdAt: Nullable(Timestamp),
      completedAt: Type.Optional(Nullable(Timestamp)),
    }),
    {
      jobId: 'job_00000000000000000000000000',
      status: 'complete',
      operation: 'update',
      totalItems: 2,
      processedItems: 2,
      successfulItems: 2,
      failedItems: 0,
      createdAt: at,
      completedAt: later,
    },
  ),
};

declare module '../webhooks/webhooks.ts' {
  interface EventData extends EventsOf<typeof bulkJobEvents> {}
}
