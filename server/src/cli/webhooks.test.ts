import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { verifyWebhook } from '@reelfeed/client/server';
import { atEnd } from '../../test/database.ts';
import { runCommand, startCommand } from '../../test/processes.ts';
import { startReceiver } from '../../test/receiver.ts';
import { eventually } from '../../test/service.ts';
import { allEnded, startWebhookService } from '../../test/webhooks/webhooks.ts';

let isDown = false;
const receiver = await startReceiver(() => (isDown ? 500 : 204));
const service = await startWebhookService({
  REELFEED_EGRESS_ALLOW: receiver.allow,
  REELFEED_WEBHOOK_RETRY_SCHEDULE: '0s',
});
const env = { REELFEED_PUBLIC_URL: service.url, REELFEED_SECRET_KEY: service.secretKey };

test('listen shows, verifies and forwards what trigger makes up', async () => {
  const received: { headers: IncomingHttpHeaders; body: string }[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString('utf8')));
    request.on('end', () => {
      received.push({ headers: request.headers, body });
      response.writeHead(202).end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(async () => void server.close());
  const forward = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  const listening = startCommand(['webhooks', 'listen', '--forward', forward], { env });
  const secret = await eventually(
    'it listens',
    async () => /secret (whsec_\S+)/.exec(listening.output.stdout)?.[1] ?? null,
  );
  // At least a second later, because dates in HTTP headers have no fractions of a second.
  for (const event of ['content.ready', 'live_stream.ended']) {
    const { code, stderr } = await runCommand(['webhooks', 'trigger', event], { env });
    assert.equal(code, 0, stderr);
  }
  await eventually('both', async () => (received.length === 2 ? true : null));
  const kinds = received.map(({ body, headers }) => verifyWebhook(body, headers, secret).event);
  assert.deepEqual(kinds, ['content.ready', 'live_stream.ended']);
  await eventually('the lines', async () =>
    listening.output.stdout.includes('live_stream.ended {') &&
    listening.output.stdout.includes('→ 202')
      ? true
      : null,
  );
  listening.child.kill('SIGINT');
  assert.equal((await listening.ended).code, 0);
});

test('recover resends failed deliveries', async () => {
  const { id } = await service.register(receiver.url);
  isDown = true;
  await service.cause('while it was down');
  await allEnded(service.db);
  assert.equal((await service.deliveries(id))[0]?.status, 'failed');
  isDown = false;
  const recover = async (...options: string[]) =>
    runCommand(['webhooks', 'recover', id, ...options], { env });
  const before = await recover('--since', '2d', '--until', '1d', '--json');
  assert.equal(JSON.parse(before.stdout).recovered, 0, before.stderr);
  const { code, stdout, stderr } = await recover('--since', '1h');
  assert.equal(code, 0, stderr);
  assert.match(stdout, /Resending 1 failed/);
  await allEnded(service.db);
  assert.equal((await service.deliveries(id))[0]?.status, 'success');
  const noTime = await recover();
  assert.deepEqual([noTime.code, noTime.stderr.split('\n')[0]], [2, '--since is missing.']);
  const yesterday = await recover('--since', 'yesterday');
  assert.equal(yesterday.code, 2);
  assert.match(yesterday.stderr, /since.*timestamp/);
  const unknown = await runCommand(['webhooks', 'recover', 'whk_1', '--since', '1h'], { env });
  assert.match(unknown.stderr, /404/);
});

test('errors are explained', async () => {
  const unknown = await runCommand(['webhooks', 'trigger', 'content.gone'], { env });
  assert.equal(unknown.code, 2);
  assert.match(unknown.stderr, /400: event: must be one of .*"content\.ready", /);
  const usage = await runCommand(['webhooks'], { env });
  assert.match(usage.stderr, /Usage:/);
  const noKey = await runCommand(['webhooks', 'trigger', 'content.ready'], {
    env: { REELFEED_PUBLIC_URL: service.url },
  });
  assert.match(noKey.stderr, /REELFEED_SECRET_KEY/);
});
