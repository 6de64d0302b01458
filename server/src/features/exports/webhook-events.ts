import { Type } from 'typebox';
import { Timestamp } from '../../platform/http/schemas.ts';
import { webhookEvent, type EventsOf } from '../webhooks/webhooks.ts';

export const exportEvents = {
  'export.ready': webhookEvent(
    'An export has finished.',
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
};

declare module '../webhooks/webhooks.ts' {
  interface EventData extends EventsOf<typeof exportEvents> {}
}
