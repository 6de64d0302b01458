import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KnownWebhookEvent, WebhookEventData } from '@reelfeed/client/server';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { startReceiver } from '../../../../test/receiver.ts';
import { allEnded, startWebhookService } from '../../../../test/webhooks/webhooks.ts';
import { extensionsOf } from '../../../app/composition.ts';
import { features } from '../../../app/features.ts';
import { createCatalogue } from './event-kinds.ts';
import type { EventData } from '../webhooks.ts';

const receiver = await startReceiver();
const service = await startWebhookService({ REELFEED_EGRESS_ALLOW: receiver.allow });

test('the catalogue describes every kind, and each example is valid', async () => {
  const { status, body } = await service.call('GET', '/v1/webhook-events');
  assert.equal(status, 200);
  const ajv = new Ajv2020({ strict: false, formats: { 'date-time': true } });
  type Described = { event: string; schema: object; example: object };
  for (const { event, schema, example } of body.data as Described[]) {
    assert.ok(ajv.validate(schema, example), `${event}: ${ajv.errorsText()}`);
    const wrong = { ...example, data: {} };
    assert.equal(ajv.validate(schema, wrong), false, `${event} needs its data`);
  }
  const { body: description } = await service.call('GET', '/openapi.json', { key: null });
  const kinds = body.data.map(({ event }: { event: string }) => event);
  assert.deepEqual(Object.keys(description.webhooks), kinds);
});

test('a wildcard receives the kinds of its subject, or all', async () => {
  const urlOf = (name: string) => `${receiver.url}/${name}`;
  await service.register(urlOf('all'), ['*']);
  await service.register(urlOf('content'), ['content.*']);
  await service.register(urlOf('live'), ['live_stream.*', 'export.ready']);
  await service.cause('for two');
  await allEnded(service.db);
  const paths = receiver.requests.map(({ path }) => path).toSorted();
  assert.deepEqual(paths, ['/hook/all', '/hook/content']);
  for (const events of [['content.gone'], ['cont*'], ['gone.*'], []]) {
    const answer = await service.call('POST', '/v1/webhooks', {
      body: { url: receiver.url, events },
    });
    assert.equal(answer.body.error.code, 'VALIDATION_ERROR', events.join());
  }
  const { subscriptions } = createCatalogue(extensionsOf(features.list));
  assert.ok(subscriptions.includes('bulk_job.*'));
});

test('the payload types of the client are those of the catalogue', () => {
  // Compile-time checks only; nothing runs.
  const toClient = (data: EventData): WebhookEventData => data;
  const toServer = (data: WebhookEventData): EventData => data;
  const titleOf = (event: KnownWebhookEvent) =>
    event.event === 'content.ready' ? event.data.title : null;
  assert.ok(toClient !== undefined && toServer !== undefined && titleOf !== undefined);
});
