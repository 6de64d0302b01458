/** The kinds of events that webhooks receive, and what the `data` of each holds. */

export const eventKinds = [
  'content.ready',
  'content.errored',
  'export.ready',
  'bulk_job.complete',
  'experiment.completed',
  'live_stream.active',
  'live_stream.ended',
] as const;

export type EventKind = (typeof eventKinds)[number];

export type EventData = {
  'content.ready': {
    contentId: string;
    title: string;
    /** Seconds. */
    duration: number | null;
    status: 'ready';
  };
  'content.errored': {
    contentId: string;
    title: string;
    status: 'error';
    error: { code: string; message: string };
  };
  'export.ready': {
    exportId: string;
    status: string;
    format: string;
    downloadUrl: string;
    expiresAt: string;
    rowCount: number;
    /** Bytes. */
    fileSize: number;
  };
  'bulk_job.complete': {
    jobId: string;
    status: string;
    operation: string;
    totalItems: number;
    processedItems: number;
    successfulItems: number;
    failedItems: number;
    createdAt: string | null;
    completedAt?: string | null;
  };
  'experiment.completed': Readonly<Record<string, unknown>>;
  'live_stream.active': Readonly<Record<string, unknown>>;
  'live_stream.ended': Readonly<Record<string, unknown>>;
};

/**
 * The body of a delivery: the bytes that are signed and sent. It is put together from the stored
 * text of `data`, so that a replay repeats what the first delivery said, byte by byte.
 */
export function deliveryBody(
  event: { kind: string; dataJson: string; occurredAt: Date },
  webhookId: string,
): string {
  const kind = JSON.stringify(event.kind);
  const timestamp = JSON.stringify(event.occurredAt.toISOString());
  return `{"event":${kind},"data":${event.dataJson},"timestamp":${timestamp},"webhookId":${JSON.stringify(webhookId)}}`;
}

/** The data of a test send: what the kind looks like, with values that are plainly made up. */
export const sampleData: EventData = {
  'content.ready': {
    contentId: '00000000-0000-7000-8000-000000000000',
    title: 'Test event',
    duration: 12.5,
    status: 'ready',
  },
  'content.errored': {
    contentId: '00000000-0000-7000-8000-000000000000',
    title: 'Test event',
    status: 'error',
    error: { code: 'UNSUPPORTED_MEDIA', message: 'This is a test.' },
  },
  'export.ready': {
    exportId: 'exp_00000000000000000000000000',
    status: 'complete',
    format: 'csv',
    downloadUrl: 'https://example.com/test.csv',
    expiresAt: '2030-01-01T00:00:00.000Z',
    rowCount: 0,
    fileSize: 0,
  },
  'bulk_job.complete': {
    jobId: 'job_00000000000000000000000000',
    status: 'complete',
    operation: 'update',
    totalItems: 2,
    processedItems: 2,
    successfulItems: 2,
    failedItems: 0,
    createdAt: '2026-01-31T12:00:00.000Z',
    completedAt: '2026-01-31T12:00:01.000Z',
  },
  'experiment.completed': { experimentId: 'exp_00000000000000000000000000', status: 'completed' },
  'live_stream.active': {
    liveStreamId: 'lst_00000000000000000000000000',
    contentId: '00000000-0000-7000-8000-000000000000',
    status: 'active',
  },
  'live_stream.ended': {
    liveStreamId: 'lst_00000000000000000000000000',
    contentId: '00000000-0000-7000-8000-000000000000',
    status: 'ended',
  },
};
