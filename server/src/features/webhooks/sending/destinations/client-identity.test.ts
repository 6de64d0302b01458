/** Tests receivers that authenticate the caller by a client certificate or an OAuth token. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { sql } from 'kysely';
import { atEnd } from '../../../../../test/database.ts';
import { authority, receiverCertificate, startReceiver } from '../../../../../test/receiver.ts';
import { createTestAuthority } from '../../../../platform/egress/test-certificate.ts';
import { allEnded, startWebhookService } from '../../../../../test/webhooks/webhooks.ts';

const service = await startWebhookService({
  REELFEED_EGRESS_ALLOW: '127.0.0.0/8',
  REELFEED_WEBHOOK_RETRY_SCHEDULE: '0s',
});

async function create(url: string, fields: object) {
  const body = { url, events: ['content.ready'], ...fields };
  const { status, body: answered, text } = await service.call('POST', '/v1/webhooks', { body });
  assert.equal(status, 201, text);
  return { ...answered.data, text };
}

const patch = (id: string, body: object) => service.call('PATCH', `/v1/webhooks/${id}`, { body });
const remove = (id: string) => service.call('DELETE', `/v1/webhooks/${id}`);

async function outcome(id: string, title: string) {
  await service.cause(title);
  await allEnded(service.db);
  const [latest] = await service.deliveries(id);
  assert.equal(latest?.payload.data.title, title);
  return latest;
}

/** No response, audit entry or database row contains these texts. */
async function requireHidden(secrets: readonly string[], answered: string): Promise<void> {
  const audit = await service.call('GET', '/v1/audit');
  const { rows } = await sql<{ text: string }>`
    select coalesce(string_agg(webhook::text, ''), '') as text from webhook`.execute(service.db);
  for (const secret of secrets) {
    for (const text of [answered, audit.text, rows[0]?.text ?? '']) {
      assert.ok(!text.includes(secret), 'a secret is shown');
    }
  }
}

test('mutual TLS: the receiver sees the certificate of the webhook, and of no other', async () => {
  const seen: string[] = [];
  const server = createServer(
    { ...receiverCertificate, requestCert: true, ca: [authority.cert] },
    (request, response) => {
      seen.push((request.socket as TLSSocket).getPeerCertificate().fingerprint256);
      request.resume().on('end', () => response.writeHead(204).end());
    },
  );
  server.on('tlsClientError', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const [mine, other] = [await authority.issue(['mine']), await authority.issue(['other'])];
  const given = ({ cert, key }: typeof mine) => ({ certificate: cert, key });
  const webhook = await create(url, { clientCertificate: given(mine) });
  const second = await create(url, { clientCertificate: given(other) });
  await service.cause('For both');
  await allEnded(service.db);
  const fingerprints = [webhook, second].map((one) => one.clientCertificate.fingerprint);
  assert.deepEqual(seen.toSorted(), fingerprints.toSorted());
  await remove(second.id);

  const none = await create(url, {});
  assert.equal((await outcome(none.id, 'Without one'))?.lastError, 'tls_error');
  await remove(none.id);
  const stranger = given(await (await createTestAuthority()).issue(['stranger']));
  await patch(webhook.id, { clientCertificate: stranger });
  assert.equal((await outcome(webhook.id, 'Of an unknown authority'))?.status, 'failed');
  const wrong = await patch(webhook.id, {
    clientCertificate: { certificate: mine.cert, key: other.key },
  });
  assert.equal(wrong.body.error.details[0].path, 'clientCertificate.key');
  await requireHidden(
    [mine.key.split('\n')[1] ?? '-', stranger.key.split('\n')[1] ?? '-'],
    webhook.text,
  );
  const without = await patch(webhook.id, { clientCertificate: null });
  assert.equal(without.body.data.clientCertificate, null);
  await remove(webhook.id);
});

test('OAuth: one token serves many deliveries, and a revoked one is replaced at once', async () => {
  let issued = 0;
  let valid = '';
  let isDown = false;
  const issuer = await startReceiver(({ headers, body }) => (_request, response) => {
    const basic = Buffer.from(headers.authorization?.slice(6) ?? '', 'base64').toString('utf8');
    const isRight =
      basic === 'client%3Aone:hush+hush%21' &&
      body === 'grant_type=client_credentials&scope=hooks+write&audience=me';
    if (isDown || !isRight) return void response.writeHead(isDown ? 503 : 401).end('{}');
    issued += 1;
    valid = `token-number-${issued}`;
    const answer = { access_token: valid, token_type: 'Bearer', expires_in: 3_600 };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  });
  const receiver = await startReceiver(({ headers }) => (_request, response) => {
    const isRight = headers.authorization === `Bearer ${valid}`;
    response.writeHead(isRight ? 204 : 401).end(`no: ${headers.authorization}`);
  });
  const oauth = {
    tokenUrl: issuer.url,
    clientId: 'client:one',
    scope: 'hooks write',
    audience: 'me',
  };
  const clientSecret = 'hush hush!';
  const webhook = await create(receiver.url, { oauth: { ...oauth, clientSecret } });
  assert.deepEqual(webhook.oauth, oauth);
  for (const title of ['One', 'Two', 'Three']) {
    assert.equal((await outcome(webhook.id, title))?.status, 'success');
  }
  assert.equal(issued, 1);
  valid = 'revoked';
  assert.equal((await outcome(webhook.id, 'After it was revoked'))?.status, 'success');
  assert.equal(issued, 2);

  valid = 'revoked';
  isDown = true;
  assert.equal((await outcome(webhook.id, 'Without an issuer'))?.lastError, 'token_error');
  isDown = false;
  await patch(webhook.id, { oauth: { ...oauth, clientSecret: 'wrong' } });
  assert.equal((await outcome(webhook.id, 'With a wrong secret'))?.lastError, 'token_error');
  await patch(webhook.id, { oauth: null });
  const refused = await outcome(webhook.id, 'Without any');
  assert.equal(refused?.lastError, 'http_401');
  assert.equal(refused.response, 'no: undefined');
  await requireHidden([clientSecret], webhook.text);
  await remove(webhook.id);
});

test('a token echoed by a receiver is not shown, and its issuer must be public', async () => {
  const issuer = await startReceiver(() => (_request, response) => {
    response.writeHead(200).end(JSON.stringify({ access_token: 'token-to-hide' }));
  });
  const receiver = await startReceiver(({ headers }) => (_request, response) => {
    response.writeHead(500).end(`you said ${headers.authorization}`);
  });
  const oauth = { tokenUrl: issuer.url, clientId: 'a', clientSecret: 'b' };
  const webhook = await create(receiver.url, { oauth });
  const delivery = await outcome(webhook.id, 'Repeated');
  assert.match(delivery?.response ?? '', /^you said .*\[secret\]/);
  assert.ok(!delivery?.response?.includes('token-to-hide'));
  const inside = { ...oauth, tokenUrl: 'https://10.0.0.1/token' };
  const refused = await patch(webhook.id, { oauth: inside });
  assert.equal(refused.body.error.details[0].path, 'oauth.tokenUrl');
  await remove(webhook.id);
});
