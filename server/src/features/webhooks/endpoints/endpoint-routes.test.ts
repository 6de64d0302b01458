import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { createOrganization } from '../../../../test/seed.ts';
import { send } from '../../../../test/service.ts';
import { startWebhookService } from '../../../../test/webhooks/webhooks.ts';
import { presentOptions } from './options.ts';

const service = await startWebhookService();
const url = 'https://hooks.example.com/reelfeed?tenant=1';
const create = (body: unknown, headers: Record<string, string> = {}) =>
  service.call('POST', '/v1/webhooks', { body, headers });
const valid = { url, events: ['content.ready'] };
/** Defaults of a webhook created without options. */
const untouched = {
  disabledReason: null,
  failingSince: null,
  headerNames: [],
  rateLimit: null,
  ...presentOptions({}),
  customer: null,
  previousSecretExpiresAt: null,
};

describe('registration', () => {
  test('create shows the secret once; get, list, patch and delete have their shapes', async () => {
    const created = await create({ ...valid, description: 'Zoë 🚀' });
    assert.equal(created.status, 201, created.text);
    const { id, webhookId, secret, createdAt, ...rest } = created.body.data;
    assert.match(id, /^whk_[0-9a-z]{26}$/);
    assert.equal(webhookId, id);
    assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
    assert.equal(new Date(createdAt).toISOString(), createdAt);
    assert.deepEqual(rest, { ...valid, ...untouched, description: 'Zoë 🚀', status: 'active' });

    const path = `/v1/webhooks/${id}`;
    const got = await service.call('GET', path);
    const shown = { id, ...rest, createdAt };
    assert.deepEqual(got.body.data, {
      ...shown,
      stats: {
        totalDeliveries: 0,
        successfulDeliveries: 0,
        failedDeliveries: 0,
        lastDeliveryAt: null,
      },
    });
    const list = await service.call('GET', '/v1/webhooks');
    assert.deepEqual(list.body.data, [shown]);
    assert.deepEqual([list.body.meta.total, list.body.meta.nextCursor], [1, null]);

    const change = {
      url: 'https://other.example.com/',
      events: ['export.ready', 'content.errored'],
      description: null,
      status: 'disabled',
    };
    const patched = await service.call('PATCH', path, { body: change });
    assert.deepEqual(patched.body.data, {
      ...{ id, createdAt, ...untouched, disabledReason: 'requested' },
      ...change,
    });
    const back = await service.call('PATCH', path, { body: { status: 'active' } });
    assert.equal(back.body.data.status, 'active');

    const deleted = await service.call('DELETE', path);
    assert.deepEqual(deleted.body.data, { id, deleted: true });
    for (const [method, target, body] of [
      ['GET', path, undefined],
      ['PATCH', path, { status: 'active' }],
      ['DELETE', path, undefined],
      ['POST', `${path}/rotate-secret`, undefined],
      ['POST', `${path}/test`, { event: 'content.ready' }],
      ['POST', `${path}/replay`, { since: '2026-01-01T00:00:00Z' }],
      ['GET', `${path}/deliveries`, undefined],
    ] as const) {
      const gone = await service.call(method, target, body === undefined ? {} : { body });
      assert.equal(gone.status, 404, `${method} ${target}: ${gone.text}`);
    }
  });

  test('what is wrong is named, and nothing is stored', async () => {
    const cases: [unknown, string][] = [
      [{ events: ['content.ready'] }, 'url'],
      [{ url }, 'events'],
      [{ ...valid, url: 5 }, 'url'],
      [{ ...valid, url: '' }, 'url'],
      [{ ...valid, url: 'http://hooks.example.com/' }, 'url'],
      [{ ...valid, url: 'https://user:password@hooks.example.com/' }, 'url'],
      [{ ...valid, url: 'https://user@hooks.example.com/' }, 'url'],
      [{ ...valid, url: `https://hooks.example.com/${'x'.repeat(2_048)}` }, 'url'],
      [{ ...valid, events: [] }, 'events'],
      [{ ...valid, events: ['content.gone'] }, 'events'],
      [{ ...valid, events: ['content.ready', 'content.ready'] }, 'events'],
      [{ ...valid, events: 'content.ready' }, 'events'],
      [{ ...valid, description: 'x'.repeat(1_001) }, 'description'],
      [{ ...valid, description: 5 }, 'description'],
      [{ ...valid, secret: 'whsec_mine' }, 'secret'],
      [{ ...valid, status: 'disabled' }, 'status'],
    ];
    for (const [body, field] of cases) {
      const answer = await create(body);
      assert.equal(answer.status, 400, `${JSON.stringify(body)}: ${answer.text}`);
      assert.equal(answer.body.error.code, 'VALIDATION_ERROR');
      assert.ok(
        answer.body.error.details.some((detail: { path: string }) => detail.path.includes(field)),
        answer.text,
      );
    }
    assert.equal((await service.call('GET', '/v1/webhooks')).body.meta.total, 0);
    const created = await create(valid);
    const path = `/v1/webhooks/${created.body.data.id}`;
    for (const body of [
      {},
      { secret: 'whsec_mine' },
      { status: 'paused' },
      { events: [] },
      { url: 'http://x.example/' },
      { id: 'whk_x' },
    ]) {
      const answer = await service.call('PATCH', path, { body });
      assert.equal(answer.status, 400, JSON.stringify(body));
    }
    assert.equal((await service.call('GET', path)).body.data.url, url);
    const replay = await service.call('POST', `${path}/replay`, { body: { since: 'yesterday' } });
    assert.equal(replay.status, 400);
    await service.call('DELETE', path);
  });

  test('an idempotency key makes one webhook of fifty requests at once, and replays its secret', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => create({ ...valid, events: ['export.ready'] }, headers)),
    );
    const made = answers.filter(({ status }) => status === 201);
    assert.ok(made.length >= 1);
    assert.equal(new Set(made.map(({ text }) => text)).size, 1);
    for (const { status, body } of answers.filter((answer) => answer.status !== 201)) {
      assert.deepEqual([status, body.error.code], [409, 'IDEMPOTENCY_IN_FLIGHT']);
    }
    const again = await create({ ...valid, events: ['export.ready'] }, headers);
    assert.equal(again.text, made[0]?.text);
    assert.equal(again.headers.get('idempotent-replayed'), 'true');
    const other = await create(valid, headers);
    assert.deepEqual([other.status, other.body.error.code], [422, 'IDEMPOTENCY_MISMATCH']);
    assert.equal((await service.call('GET', '/v1/webhooks')).body.meta.total, 1);
    await service.call('DELETE', `/v1/webhooks/${made[0]?.body.data.id}`);
  });

  test('the 51st is refused, also when they come at once; the list pages through all', async () => {
    const answers = await Promise.all(Array.from({ length: 60 }, () => create(valid)));
    const refused = answers.filter(({ status }) => status !== 201);
    assert.equal(refused.length, 10);
    for (const { status, body } of refused) {
      assert.deepEqual([status, body.error.code], [400, 'LIMIT_EXCEEDED']);
    }
    const ids: string[] = [];
    let cursor = '';
    do {
      const page = await service.call('GET', `/v1/webhooks?limit=20${cursor}`);
      ids.push(...page.body.data.map(({ id }: { id: string }) => id));
      assert.equal(page.body.meta.total, 50);
      cursor = page.body.meta.nextCursor && `&cursor=${page.body.meta.nextCursor}`;
    } while (cursor);
    assert.equal(new Set(ids).size, 50);
    assert.equal(ids.length, 50);
    for (const id of ids) await service.call('DELETE', `/v1/webhooks/${id}`);
  });

  test('a publishable key is refused everywhere, and another organization sees nothing', async () => {
    const created = await create(valid);
    const { id } = created.body.data;
    const stranger = await createOrganization(service, 'Stranger');
    for (const [method, target] of [
      ['GET', '/v1/webhooks'],
      ['POST', '/v1/webhooks'],
      ['GET', `/v1/webhooks/${id}`],
      ['PATCH', `/v1/webhooks/${id}`],
      ['DELETE', `/v1/webhooks/${id}`],
      ['POST', `/v1/webhooks/${id}/rotate-secret`],
      ['POST', `/v1/webhooks/${id}/test`],
      ['POST', `/v1/webhooks/${id}/replay`],
      ['GET', `/v1/webhooks/${id}/deliveries`],
      ['POST', `/v1/webhooks/${id}/deliveries/dlv_00000000000000000000000000/retry`],
    ] as const) {
      const answer = await send(`${service.url}${target}`, method, { key: service.publishableKey });
      assert.deepEqual([answer.status, answer.body.error.code], [403, 'FORBIDDEN'], target);
    }
    for (const [method, target, body] of [
      ['GET', `/v1/webhooks/${id}`, undefined],
      ['PATCH', `/v1/webhooks/${id}`, { status: 'disabled' }],
      ['DELETE', `/v1/webhooks/${id}`, undefined],
      ['POST', `/v1/webhooks/${id}/rotate-secret`, undefined],
      ['POST', `/v1/webhooks/${id}/test`, { event: 'content.ready' }],
      ['GET', `/v1/webhooks/${id}/deliveries`, undefined],
    ] as const) {
      const call = { key: stranger.secretKey, ...(body !== undefined && { body }) };
      const answer = await send(`${service.url}${target}`, method, call);
      assert.deepEqual([answer.status, answer.body.error.code], [404, 'NOT_FOUND'], target);
    }
    const list = await send(`${service.url}/v1/webhooks`, 'GET', { key: stranger.secretKey });
    assert.deepEqual(list.body.data, []);
    const shown = await service.call('GET', `/v1/webhooks/${id}`);
    assert.equal(shown.body.data.status, 'active');
    await service.call('DELETE', `/v1/webhooks/${id}`);
  });
});
