/** Finished webhook deliveries, without their payloads. */
import { listDeliveriesForExport } from '../../webhooks/webhooks.ts';
import { momentsOf, rowOf, type Column, type DatasetReader } from './dataset.ts';

const columns: readonly Column[] = [
  { name: 'deliveryId', type: 'string', about: 'The delivery.' },
  { name: 'webhookId', type: 'string', about: 'The webhook.' },
  { name: 'eventId', type: 'string', about: 'The event; replays have the same id.' },
  { name: 'event', type: 'string', about: 'The kind, such as `content.ready`.' },
  { name: 'status', type: 'string', about: '`success` or `failed`.' },
  { name: 'test', type: 'boolean', about: 'Whether it was a test delivery.' },
  { name: 'attempts', type: 'integer', about: 'The number of attempts.' },
  {
    name: 'statusCode',
    type: 'integer',
    about: 'The status of the last response; empty if there was none.',
  },
  { name: 'responseTime', type: 'integer', about: 'Milliseconds until the last response.' },
  { name: 'occurredAt', type: 'timestamp', about: 'When the event happened.' },
  { name: 'createdAt', type: 'timestamp', about: 'When the delivery was created.' },
  { name: 'lastAttemptAt', type: 'timestamp', about: 'When the last attempt ended.' },
];

const deliveriesAtOnce = 5_000;

export const webhooks: DatasetReader = {
  about: 'Finished webhook deliveries by creation day, without bodies, URLs or secrets.',
  columns,
  filters: [],
  namesViewers: false,
  async *read({ db }, range, from, signal) {
    const { from: since, before } = momentsOf(range);
    let position = from as { createdAt: string; deliveryId: string } | null;
    for (;;) {
      signal.throwIfAborted();
      const page: Awaited<ReturnType<typeof listDeliveriesForExport>> =
        await listDeliveriesForExport(
          db,
          range.organizationId,
          { since, before },
          { after: position, limit: deliveriesAtOnce },
        );
      const last = page.at(-1);
      if (last === undefined) return;
      position = { createdAt: last.position, deliveryId: last.deliveryId };
      const share =
        (last.createdAt.getTime() - since.getTime()) / (before.getTime() - since.getTime());
      yield {
        rows: page.map(({ occurredAt, createdAt, lastAttemptAt, ...row }) =>
          rowOf(columns, {
            ...row,
            occurredAt: occurredAt.getTime(),
            createdAt: createdAt.getTime(),
            lastAttemptAt: lastAttemptAt.getTime(),
          }),
        ),
        next: position,
        share: Math.min(Math.max(share, 0), 0.99),
      };
      if (page.length < deliveriesAtOnce) return;
    }
  },
};
