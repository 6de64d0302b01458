import { Type } from 'typebox';
import { Nullable, OneOf, Timestamp } from '../../platform/http/schemas.ts';
import { watchedReports } from '../analytics/analytics.ts';
import { webhookEvent, type EventsOf } from '../webhooks/webhooks.ts';
import { changeReasons } from './queries.ts';

export const alertEvents = {
  'analytics.alert': webhookEvent(
    'An alert on a metric was opened or resolved.',
    Type.Object({
      alertId: Type.String(),
      name: Type.String(),
      state: OneOf(['opened', 'resolved'] as const),
      reason: OneOf(changeReasons),
      report: OneOf(watchedReports),
      metric: Type.String(),
      value: Nullable(Type.Number()),
      low: Nullable(Type.Number({ description: 'The alert opens below this value.' })),
      high: Nullable(Type.Number({ description: 'The alert opens above this value.' })),
      windowEnd: Nullable(Timestamp),
      url: Type.String({ description: 'URL of the alert in the console.' }),
    }),
    {
      alertId: 'alr_00000000000000000000000000',
      name: 'Errors',
      state: 'opened',
      reason: 'breached',
      report: 'quality',
      metric: 'errorRate',
      value: 0.08,
      low: null,
      high: 0.02,
      windowEnd: '2026-01-31T12:00:00.000Z',
      url: 'https://video.example.com/console/#/alerts',
    },
  ),
};

declare module '../webhooks/webhooks.ts' {
  interface EventData extends EventsOf<typeof alertEvents> {}
}
