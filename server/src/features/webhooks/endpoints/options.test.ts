import assert from 'node:assert/strict';
import { test } from 'node:test';
import { verifyWebhook } from '@reelfeed/client/server';
import { startReceiver, type Answer, type Received } from '../../../../test/receiver.ts';
import { eventually } from '../../../../test/service.ts';
import { inTransaction } from '../../../platform/database/database.ts';
import { recordEvent } from '../webhooks.ts';
import { allEnded, startWebhookService } from '../../../../test/webhooks/webhooks.ts';

let answer: (received: Received, count: number) => Answer = () => 204;
const receiver = await startReceiver((received, count) => answer(received, count));
const service = await startWebhookService({
  REELFEED_EGRESS_ALLOW: receiver.allow,
  REELFEED_WEBHOOK_RETRY_SCHEDULE: '0s',
});

async function create(name: string, fields: object) {
  const body = { url: `${receiver.url}/${name}`, events: ['content.ready'], ...fields };
  const { status, body: answered, text } = await service.call('POST', '/v1/webhooks', { body });
  assert.equal(status, 201, text);
  return answered.data;
}

const sentTo = (name: string) => receiver.requests.filter(({ path }) => path.endsWith(`/${name}`));
const remove = (id: string) => service.call('DELETE', `/v1/webhooks/${id}`);
const patch = (id: string, body: object) => service.call('PATCH', `/v1/webhooks/${id}`, { body });

test('a new webhook has the defaults, and null brings them back', async () => {
  const made = await create('defaults', {});
  const defaults = {
    filter: null,
    neverMatches: [],
    retrySchedule: null,
    timeout: 30,
    payloadVersion: 1,
    rotationOverlap: 3_600,
    orderedBy: null,
    signature: 'hmac',
    publicKey: null,
    destination: { type: 'https' },
    clientCertificate: null,
    oauth: null,
    notify: [],
    customer: null,
  };
  const shown = (data: object) =>
    Object.fromEntries(Object.keys(defaults).map((name) => [name, Reflect.get(data, name)]));
  assert.deepEqual(shown(made), defaults);
  const other = { timeout: 5, payloadVersion: 2, orderedBy: 'contentId', customer: 'acme' };
  const changed = await patch(made.id, other);
  assert.deepEqual(shown(changed.body.data), { ...defaults, ...other });
  const back = { timeout: null, payloadVersion: null, orderedBy: null, customer: null };
  assert.deepEqual(shown((await patch(made.id, back)).body.data), defaults);
  await remove(made.id);
});

test('invalid options are rejected by name', async () => {
  const cases: [string, object][] = [
    ['retrySchedule', { retrySchedule: [] }],
    ['retrySchedule', { retrySchedule: [5, 10] }],
    ['retrySchedule[0]', { retrySchedule: [-1] }],
    ['timeout', { timeout: 31 }],
    ['timeout', { timeout: 0.5 }],
    ['rotationOverlap', { rotationOverlap: 3_599 }],
    ['rotationOverlap', { rotationOverlap: 604_801 }],
    ['payloadVersion', { payloadVersion: 3 }],
    ['orderedBy', { orderedBy: 'title' }],
    ['signature', { signature: 'rsa' }],
    ['notify[0]', { notify: ['nobody'] }],
    ['url', { destination: { type: 'nats', subject: 'a.b' } }],
    ['clientCertificate.certificate', { clientCertificate: { certificate: 'a', key: 'b' } }],
    [
      'oauth.tokenUrl',
      { oauth: { tokenUrl: 'https://127.0.0.1:1/t', clientId: 'a', clientSecret: 'b' } },
    ],
  ];
  for (const [path, fields] of cases) {
    const body = { url: receiver.url, events: ['content.ready'], ...fields };
    const { status, body: answered } = await service.call('POST', '/v1/webhooks', { body });
    const what = JSON.stringify([fields, answered]);
    assert.equal(status, 400, what);
    assert.ok(
      answered.error.details.some((one: { path: string }) => one.path === path),
      what,
    );
  }
});

test('a custom schedule decides how often and when a webhook is tried', async () => {
  const made = await create('schedule', { retrySchedule: [0, 0, 0] });
  answer = () => 500;
  await service.cause('Refused');
  await allEnded(service.db);
  const [delivery] = await service.deliveries(made.id);
  assert.equal(delivery?.attempts, 3);
  assert.equal(delivery.status, 'failed');
  answer = () => 204;
  await remove(made.id);
});

test('a custom timeout ends an attempt', async () => {
  const made = await create('timeout', { timeout: 1 });
  answer = () => () => undefined;
  await service.cause('Unanswered');
  await allEnded(service.db);
  const [delivery] = await service.deliveries(made.id);
  assert.equal(delivery?.lastError, 'timeout');
  assert.ok((delivery.responseTime ?? 0) >= 990 && (delivery.responseTime ?? 0) < 20_000);
  answer = () => 204;
  await remove(made.id);
});

test('a payload version is kept until it is changed', async () => {
  const old = await create('old', {});
  const fresh = await create('fresh', { payloadVersion: 2 });
  await service.cause('Twice');
  await allEnded(service.db);
  const [first] = sentTo('old').map(({ body }) => JSON.parse(body));
  assert.deepEqual(Object.keys(first), ['event', 'data', 'timestamp', 'webhookId']);
  const [second] = sentTo('fresh').map(({ body }) => JSON.parse(body));
  assert.equal(second.version, 2);
  assert.match(second.id, /^[0-9a-f-]{36}$/);
  assert.deepEqual(second.data, first.data);
  await patch(old.id, { payloadVersion: 2 });
  await service.cause('Again');
  await allEnded(service.db);
  const ids = ['old', 'fresh'].map((name) => JSON.parse(sentTo(name)[1]?.body ?? '{}').id);
  assert.equal(ids[0], ids[1], 'the id is that of the event');
  await Promise.all([remove(old.id), remove(fresh.id)]);
});

test('a replaced secret signs for as long as the webhook says', async () => {
  const made = await create('overlap', { rotationOverlap: 7 * 86_400 });
  const rotated = await service.call('POST', `/v1/webhooks/${made.id}/rotate-secret`);
  const left = Date.parse(rotated.body.data.previousSecretExpiresAt) - Date.now();
  assert.ok(left > 6.99 * 86_400_000 && left < 7.01 * 86_400_000);
  await remove(made.id);
});

test('ed25519: the public key alone verifies, through a rotation and a change', async () => {
  const made = await create('ed25519', { signature: 'ed25519' });
  assert.match(made.publicKey, /^whpk_/);
  assert.match(made.secret, /^whsec_\S+$/);
  await service.cause('First');
  await allEnded(service.db);
  const rotated = await service.call('POST', `/v1/webhooks/${made.id}/rotate-secret`);
  assert.notEqual(rotated.body.data.publicKey, made.publicKey);
  await service.cause('Second');
  await allEnded(service.db);
  const [first, second] = sentTo('ed25519');
  assert.ok(first !== undefined && second !== undefined);
  const verified = ({ body, headers }: Received, key: string) =>
    verifyWebhook(body, headers, key).deliveryId;
  for (const key of [made.publicKey, made.secret]) {
    assert.equal(verified(first, key), first.headers['webhook-id']);
    assert.equal(verified(second, key), second.headers['webhook-id'], 'also while it is replaced');
  }
  assert.equal(verified(second, rotated.body.data.publicKey), second.headers['webhook-id']);
  assert.throws(() => verified(first, rotated.body.data.publicKey), /No signature matches/);
  const forged = { ...first, body: first.body.replace('First', 'Forgd') };
  assert.throws(() => verified(forged, made.publicKey), /No signature matches/);

  const plain = await patch(made.id, { signature: 'hmac' });
  assert.equal(plain.body.data.publicKey, null);
  await service.cause('Third');
  await allEnded(service.db);
  const third = sentTo('ed25519')[2];
  assert.ok(third !== undefined);
  assert.ok(verified(third, rotated.body.data.secret));
  assert.throws(() => verified(third, rotated.body.data.publicKey), /No signature matches/);
  const again = await patch(made.id, { signature: 'ed25519' });
  assert.match(again.body.data.publicKey, /^whpk_/);
  await remove(made.id);
});

test('in order by item: a failing delivery holds back later ones of the same item alone', async () => {
  const made = await create('ordered', { orderedBy: 'contentId', retrySchedule: [0, 1, 1, 1] });
  const cause = (item: number, title: string) =>
    inTransaction(service.db, (tx) =>
      recordEvent(tx, service.organizationId, 'content.ready', {
        contentId: `0198c0de-0000-7000-8000-00000000000${item}`,
        title,
        duration: 1,
        status: 'ready',
      }),
    );
  let failures = 0;
  answer = ({ body }) => (JSON.parse(body).data.title === 'a1' && failures++ < 2 ? 500 : 204);
  for (const title of ['a1', 'a2', 'b1', 'a3', 'b2']) {
    await cause(title.startsWith('a') ? 1 : 2, title);
  }
  const waiting = await eventually('the failure', async () => (failures > 0 ? failures : null));
  assert.ok(waiting > 0);
  const listed = await service.deliveries(made.id);
  assert.equal(listed.find(({ payload }) => payload.data.title === 'a3')?.status, 'pending');
  await allEnded(service.db);
  const titles = sentTo('ordered').map(({ body }) => JSON.parse(body).data.title as string);
  const ofItem = (item: string) => titles.filter((title) => title.startsWith(item));
  assert.deepEqual(ofItem('a'), ['a1', 'a1', 'a1', 'a2', 'a3']);
  assert.deepEqual(ofItem('b'), ['b1', 'b2']);
  assert.ok(titles.indexOf('b2') < titles.lastIndexOf('a1'), 'the other item is not held back');
  answer = () => 204;
  await remove(made.id);
});
