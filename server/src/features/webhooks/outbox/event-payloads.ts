/** What the `data` of each kind of event holds: one schema gives the type, the catalogue and docs. */
import { Type, type Static, type TSchema } from 'typebox';
import { Nullable, OneOf, Timestamp } from '../../../platform/http/schemas.ts';

type Kind<Data extends TSchema> = {
  readonly description: string;
  readonly data: Data;
  /** Plainly made up; test sends use it. */
  readonly example: Static<Data>;
};

function kind<Data extends TSchema>(
  description: string,
  data: Data,
  example: Static<Data>,
): Kind<Data> {
  return { description, data, example };
}

const contentId = '00000000-0000-7000-8000-000000000000';
const liveStreamId = 'lst_00000000000000000000000000';
const at = '2026-01-31T12:00:00.000Z';
const later = '2026-01-31T12:00:01.000Z';

const Failure = Type.Object({
  code: Type.String({ description: 'As in the `errorReason` of the item.' }),
  message: Type.String(),
});

const LiveStream = {
  liveStreamId: Type.String(),
  contentId: Type.String({ description: 'The item that shows the stream.' }),
  title: Type.String(),
};

export const eventPayloads = {
  'content.ready': kind(
    'An item has been processed and can be played.',
    Type.Object({
      contentId: Type.String(),
      title: Type.String(),
      duration: Nullable(Type.Number({ description: 'Seconds.' })),
      status: Type.Literal('ready'),
    }),
    { contentId, title: 'Test event', duration: 12.5, status: 'ready' },
  ),
  'content.errored': kind(
    'Processing failed, or an upload was never completed.',
    Type.Object({
      contentId: Type.String(),
      title: Type.String(),
      status: Type.Literal('error'),
      error: Failure,
    }),
    {
      contentId,
      title: 'Test event',
      status: 'error',
      error: { code: 'UNSUPPORTED_MEDIA', message: 'This is a test.' },
    },
  ),
  'export.ready': kind(
    'A data export is done.',
    Type.Object({
      exportId: Type.String(),
      status: Type.String(),
      format: Type.String(),
      downloadUrl: Type.String(),
      expiresAt: Timestamp,
      rowCount: Type.Integer(),
      fileSize: Type.Integer({ description: 'Bytes.' }),
    }),
    {
      exportId: 'exp_00000000000000000000000000',
      status: 'complete',
      format: 'csv',
      downloadUrl: 'https://example.com/test.csv',
      expiresAt: '2030-01-01T00:00:00.000Z',
      rowCount: 0,
      fileSize: 0,
    },
  ),
  'bulk_job.complete': kind(
    'A bulk job is done.',
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
  'experiment.completed': kind(
    'An experiment ended by itself, at its `endsAt`.',
    Type.Object({
      experimentId: Type.String(),
      name: Type.String(),
      status: Type.Literal('completed'),
      startedAt: Nullable(Timestamp),
      completedAt: Timestamp,
      winner: Nullable(Type.String({ description: 'The recommended variant, if there is one.' })),
    }),
    {
      experimentId: 'exp_00000000000000000000000000',
      name: 'Test event',
      status: 'completed',
      startedAt: at,
      completedAt: later,
      winner: null,
    },
  ),
  'live_stream.active': kind(
    'A live stream has its first picture.',
    Type.Object({ ...LiveStream, status: Type.Literal('active'), startedAt: Timestamp }),
    { liveStreamId, contentId, title: 'Test event', status: 'active', startedAt: at },
  ),
  'live_stream.ended': kind(
    'A live stream has ended.',
    Type.Object({
      ...LiveStream,
      status: Type.Literal('ended'),
      startedAt: Nullable(Timestamp),
      endedAt: Timestamp,
    }),
    {
      liveStreamId,
      contentId,
      title: 'Test event',
      status: 'ended',
      startedAt: at,
      endedAt: later,
    },
  ),
  'webhook.disabled': kind(
    'A webhook of the organization was disabled because all its deliveries failed.',
    Type.Object({
      webhookId: Type.String(),
      host: Type.String({ description: 'Of its URL.' }),
      description: Nullable(Type.String()),
      reason: OneOf(['failing'] as const),
      failingSince: Timestamp,
      disabledAt: Timestamp,
    }),
    {
      webhookId: 'whk_00000000000000000000000000',
      host: 'example.com',
      description: null,
      reason: 'failing',
      failingSince: at,
      disabledAt: '2026-02-05T12:00:00.000Z',
    },
  ),
} as const;

export type EventKind = keyof typeof eventPayloads;

export type EventData = { [K in EventKind]: Static<(typeof eventPayloads)[K]['data']> };
