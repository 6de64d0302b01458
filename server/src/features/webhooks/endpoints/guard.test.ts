import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { after, describe, test } from 'node:test';
import { eventually } from '../../../../test/service.ts';
import { startWebhookService } from '../../../../test/webhooks/webhooks.ts';

const service = await startWebhookService();
const valid = { url: 'https://hooks.example.com/reelfeed', events: ['content.ready'] };
const create = (body: unknown) => service.call('POST', '/v1/webhooks', { body });

/** Listens on every local IPv4 and IPv6 address to detect any connection that slips through. */
const listener = createServer((socket) => {
  connects += 1;
  socket.destroy();
});
let connects = 0;
listener.listen(0);
await once(listener, 'listening');
after(() => listener.close());
const address = listener.address();
assert.ok(address !== null && typeof address === 'object');
const { port } = address;

const refusedHosts = [
  '127.1 127.0.0.1 0x7f.1 0x7f.0x0.0x0.0x1 0x7f000001 2130706433 017700000001 0177.0.0.1',
  '①②⑦.⓪.⓪.① １２７.０.０.１ 127。0。0。1 0 0.0.0.0 [::]',
  '169.254.169.254 0xa9fea9fe 2852039166 0251.0376.0251.0376 168.63.129.16',
  '[::ffff:127.0.0.1] [::ffff:7f00:1] [0:0:0:0:0:ffff:127.0.0.1] [::127.0.0.1] [::1]',
  '[0:0:0:0:0:0:0:1] [64:ff9b::7f00:1] [64:ff9b::169.254.169.254] [64:ff9b:1::a9fe:a9fe]',
  '[2002:7f00:1::1] [2001:0:7f00:1::1] [2001:db8::5efe:7f00:1] [fe80::1] [fc00::1] [fd00:ec2::254]',
  '[fec0::1] [ff02::1] [5f00::1] [100::1] [2001:db8::1] [3fff::1]',
  '10.254.0.0 172.16.10.65 192.168.10.65 100.100.100.200 100.64.0.1 192.0.0.192 192.0.2.255',
  '198.51.100.65 198.18.0.1 203.0.113.6 224.1.2.3 240.240.240.240 255.255.255.255 0.1.2.3',
  'localhost LOCALHOST localhost. localhost.localdomain metadata.google.internal printer.local',
]
  .join(' ')
  .split(' ');

const allowedHosts = [
  '1.1.1.1 8.8.8.8 [2606:4700:4700::1111] [2001:4860:4860::8888] 100.63.255.254 100.128.0.1',
  '192.88.98.255 192.88.100.1 223.255.255.255',
]
  .join(' ')
  .split(' ');

/** The webhook's pending delivery fails when it is attempted, and nothing else is sent. */
async function refusesToSend(id: string, target: string): Promise<void> {
  const path = `/v1/webhooks/${id}`;
  const attempted = await eventually(`an attempt at ${target}`, async () => {
    const [delivery] = await service.deliveries(id);
    return delivery !== undefined && delivery.attempts > 0 ? delivery : null;
  });
  // Here, a name that only a private network's resolver knows cannot be resolved.
  const isUnknown = attempted.lastError === 'dns_error' && /[a-z]$/i.test(new URL(target).hostname);
  assert.ok(
    isUnknown || attempted.lastError === 'blocked_address',
    `${target}: ${attempted.lastError}`,
  );
  assert.equal(attempted.statusCode, undefined);
  for (const [route, body] of [
    [`${path}/test`, { event: 'content.ready' }],
    [`${path}/replay`, { since: '2026-01-01T00:00:00Z' }],
    [`${path}/deliveries/${attempted.id}/retry`, undefined],
  ] as const) {
    const refused = await service.call('POST', route, body === undefined ? {} : { body });
    assert.deepEqual(
      [refused.status, refused.body.error?.details?.[0]?.path],
      [400, 'url'],
      `${target} ${route}`,
    );
  }
}

describe('the guard', () => {
  test('refuses every spelling of a special address on create and update, and connects to none', async () => {
    const { id } = (await create(valid)).body.data;
    for (const host of refusedHosts) {
      for (const target of [`https://${host}:${port}/`, `https://${host}/`]) {
        const created = await create({ ...valid, url: target });
        assert.deepEqual(
          [created.status, created.body.error?.details?.[0]?.path],
          [400, 'url'],
          target,
        );
        const patched = await service.call('PATCH', `/v1/webhooks/${id}`, {
          body: { url: target },
        });
        assert.equal(patched.status, 400, target);
      }
    }
    for (const target of [
      'ftp://example.com',
      '//example.com',
      'javascript:alert(1)',
      'file:///etc/passwd',
      'https://',
      'not-a-url',
      'example.com',
      'https://[127.0.0.1]/',
      'https://::1/',
      'https://[::1%lo]/',
      'https://127.0.0.256/',
      'https://1.2.3.4.5/',
      'https://example.com:99999/',
      'https://example.com:0/',
      'https://A.com@127.0.0.1/',
      'https://1.1.1.1:22/',
    ]) {
      const created = await create({ ...valid, url: target });
      assert.equal(created.status, 400, `${target}: ${created.text}`);
    }
    assert.equal(connects, 0);
    await service.call('DELETE', `/v1/webhooks/${id}`);
  });

  test('refuses them on test, retry, replay and at each attempt, when a stored URL turns out to be one', async () => {
    const targets = refusedHosts.map((host) => `https://${host}:${port}/`);
    for (let n = 0; n < targets.length; n += 50) {
      const some = targets.slice(n, n + 50);
      const ids: string[] = [];
      for (const target of some) {
        const { id } = (await create(valid)).body.data;
        // Simulates that the name now resolves elsewhere, or that the operator withdrew an
        // exception.
        await service.db
          .updateTable('webhook')
          .set({ url: new URL(target).href })
          .where('webhook_id', '=', id)
          .execute();
        ids.push(id);
      }
      await service.cause('refused');
      for (const [index, id] of ids.entries()) await refusesToSend(id, some[index] ?? '');
      await service.db.deleteFrom('webhook').execute();
    }
    assert.equal(connects, 0);
  });

  test('lets public addresses pass', async () => {
    for (const host of allowedHosts) {
      const created = await create({ ...valid, url: `https://${host}/hook` });
      assert.equal(created.status, 201, `${host}: ${created.text}`);
      await service.call('DELETE', `/v1/webhooks/${created.body.data.id}`);
    }
  });
});
