import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { sql } from 'kysely';
import type { Page } from 'playwright-core';
import { launchBrowser } from '../../../../test/browser.ts';
import { atEnd } from '../../../../test/database.ts';
import { startReceiver } from '../../../../test/receiver.ts';
import { freePort, send } from '../../../../test/service.ts';
import { hostileTexts } from '../../../../test/world/hostile-texts.ts';
import { dayMs } from '../../../platform/values/time.ts';
import { expireWebhookData } from '../deliveries/maintenance.ts';
import { allEnded, startWebhookService } from '../../../../test/webhooks/webhooks.ts';

/** Ports of an allowed and a foreign page that embed the portal in a frame. */
const framePort = await freePort();
const strangerPort = await freePort();
let isBroken = false;
const receiver = await startReceiver(() => (_request, response) => {
  response.writeHead(isBroken ? 500 : 204).end(isBroken ? hostileTexts.image : '');
});
const service = await startWebhookService({
  REELFEED_EGRESS_ALLOW: receiver.allow,
  REELFEED_WEBHOOK_RETRY_SCHEDULE: '0s',
  REELFEED_PORTAL_FRAME_ORIGINS: `http://127.0.0.1:${framePort}`,
});

async function create(customer: string | null, fields: object = {}) {
  const body = { url: receiver.url, events: ['content.ready'], customer, ...fields };
  const { status, body: answered, text } = await service.call('POST', '/v1/webhooks', { body });
  assert.equal(status, 201, text);
  return answered.data;
}

const root = '/v1/webhook-portal/webhooks';
const links = '/v1/webhook-portal-links';

async function linkFor(customer: string, expiresIn = 600) {
  const body = { customer, expiresIn };
  const answer = await service.call('POST', links, { body });
  assert.equal(answer.status, 201, answer.text);
  const url = new URL(answer.body.data.url);
  const { id } = answer.body.data;
  return { url: `${service.url}${url.pathname}${url.hash}`, token: url.hash.slice(1), id };
}

const ask = (token: string, path = '', method = 'GET', body?: object) =>
  send(`${service.url}${root}${path}`, method, { key: token, ...(body && { body }) });

test('a link shows the webhooks of its customer and of no other', async () => {
  const mine = await create('acme');
  const other = await create('globex');
  const own = await create(null);
  const { token } = await linkFor('acme');
  const listed = await ask(token);
  assert.equal(listed.headers.get('cache-control'), 'no-store');
  assert.deepEqual(
    listed.body.data.map(({ id }: { id: string }) => id),
    [mine.id],
  );
  assert.ok(!listed.text.includes('whsec_'));
  await service.cause('For all');
  await allEnded(service.db);
  const [delivery] = await service.deliveries(other.id);
  const since = { since: new Date(0).toISOString() };
  for (const { id } of [other, own]) {
    for (const [method, path, body] of [
      ['GET', `/${id}/deliveries`],
      ['GET', `/${id}/deliveries/${delivery?.id}`],
      ['POST', `/${id}/deliveries/${delivery?.id}/retry`],
      ['POST', `/${id}/recover`, since],
      ['POST', `/${id}/rotate-secret`],
    ] as const) {
      assert.equal((await ask(token, path, method, body)).status, 404, path);
    }
  }
  const crossed = await ask(token, `/${mine.id}/deliveries/${delivery?.id}`);
  assert.equal(crossed.status, 404, 'a delivery of another webhook');
  const page = await ask(token, `/${mine.id}/deliveries?limit=1`);
  assert.equal(page.body.data.length, 1);
  for (const { id } of [mine, other, own]) await service.call('DELETE', `/v1/webhooks/${id}`);
});

test('a changed or expired token, or one of another kind, gives no access', async () => {
  const { token, id } = await linkFor('acme');
  const changed = `${token.slice(0, -2)}${token.endsWith('AA') ? 'BB' : 'AA'}`;
  const { token: expired, id: expiredId } = await linkFor('acme');
  await sql`update webhook_portal_link set expires_at = now() where link_id = ${expiredId}`.execute(
    service.db,
  );
  for (const one of [changed, 'whp_', `${token}A`, id, expired, service.secretKey]) {
    assert.equal((await ask(one)).status, 401, one);
  }
  assert.equal((await ask(token)).status, 200);
  const key = await send(`${service.url}/v1/webhooks`, 'GET', { key: token });
  assert.equal(key.status, 401, 'it is no key');
  await expireWebhookData(service.db, 30 * dayMs, new AbortController().signal);
  const { rows } = await sql`select from webhook_portal_link where link_id = ${expiredId}`.execute(
    service.db,
  );
  assert.equal(rows.length, 0);
});

test('links are listed without their tokens, and revoked at once', async () => {
  const first = await linkFor('initech');
  const second = await linkFor('initech');
  const other = await linkFor('hooli');
  const list = async (query: string) => {
    const { status, body, text } = await service.call('GET', `${links}?${query}`);
    assert.equal(status, 200, text);
    assert.ok(![first, second, other].some(({ token }) => text.includes(token)));
    return body;
  };
  const { data, meta } = await list('customer=initech&limit=1');
  assert.deepEqual([data[0].id, data[0].customer, meta.total], [second.id, 'initech', 2]);
  const next = await list(`customer=initech&limit=1&cursor=${meta.nextCursor}`);
  assert.deepEqual([next.data[0].id, next.meta.nextCursor], [first.id, null]);
  const { rows: stored } = await sql`select row_to_json(link)::text as link
    from webhook_portal_link link`.execute(service.db);
  assert.ok(!JSON.stringify(stored).includes(first.token));
  const revoked = await service.call('DELETE', `${links}/${first.id}`);
  assert.deepEqual([revoked.status, revoked.body.data], [200, { id: first.id, deleted: true }]);
  assert.equal((await ask(first.token)).status, 401);
  assert.equal((await ask(second.token)).status, 200);
  for (const id of [first.id, 'whl_0', 'nothing']) {
    assert.equal((await service.call('DELETE', `${links}/${id}`)).status, 404, id);
  }
  assert.equal((await list('customer=initech')).meta.total, 1);
  const audit = await service.call('GET', '/v1/audit');
  const actions = audit.body.data.filter(
    ({ resourceId }: { resourceId: string }) => resourceId === first.id,
  );
  assert.ok(
    actions.some(({ action }: { action: string }) => action === 'revokeWebhookPortalLink'),
    audit.text,
  );
  assert.ok(!audit.text.includes(first.token));
});

test('actions of a visitor take effect and are recorded', async () => {
  const webhook = await create('acme');
  const { token } = await linkFor('acme');
  isBroken = true;
  await service.cause('Refused');
  await allEnded(service.db);
  isBroken = false;
  const [failed] = (await ask(token, `/${webhook.id}/deliveries?status=failed`)).body.data;
  const details = await ask(token, `/${webhook.id}/deliveries/${failed.id}`);
  assert.equal(details.body.data.attemptHistory.length, 1);
  const since = new Date(Date.now() - 60_000).toISOString();
  const recovered = await ask(token, `/${webhook.id}/recover`, 'POST', { since });
  assert.equal(recovered.body.data.recovered, 1);
  await allEnded(service.db);
  const retried = await ask(token, `/${webhook.id}/deliveries/${failed.id}/retry`, 'POST');
  assert.equal(retried.body.data.status, 'pending');
  const rotated = await ask(token, `/${webhook.id}/rotate-secret`, 'POST');
  assert.match(rotated.body.data.secret, /^whsec_/);
  const audit = await service.call('GET', '/v1/audit');
  const actions = audit.body.data
    .filter(({ resourceId }: { resourceId: string }) => resourceId === webhook.id)
    .map(({ action, changes }: { action: string; changes: unknown }) => [action, changes]);
  for (const action of [
    'rotateWebhookSecret',
    'retryWebhookDelivery',
    'recoverWebhookDeliveries',
  ]) {
    assert.ok(
      actions.some(
        ([name, changes]: [string, { customer?: string }]) =>
          name === action && changes?.customer === 'acme',
      ),
      JSON.stringify(actions),
    );
  }
  assert.ok(!audit.text.includes(token) && !audit.text.includes(rotated.body.data.secret));
  await service.call('DELETE', `/v1/webhooks/${webhook.id}`);
});

const { browser, reason } = await launchBrowser();
if (browser !== null) after(() => browser.close());
const options = browser === null ? { skip: reason } : { timeout: 300_000 };

/** Serves a page that embeds the portal in a frame. */
async function startFrame(port: number, portal: string): Promise<string> {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' });
    response.end(`<!doctype html><iframe src="${portal}" width="900" height="900"></iframe>`);
  }).listen(port, '127.0.0.1');
  await once(server, 'listening');
  atEnd(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

const isUnharmed = (page: Page) => page.evaluate(() => !('reelfeedBroken' in globalThis));

test('the page shows hostile texts as plain text, and works', options, async () => {
  if (browser === null) return;
  isBroken = true;
  const url = `${receiver.url}?q=${encodeURIComponent(hostileTexts.script)}`;
  const webhook = await create(hostileTexts.svg, { url, description: hostileTexts.svg });
  await service.cause(hostileTexts.script);
  await allEnded(service.db);
  isBroken = false;
  const page = await browser.newPage();
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
  });
  const { url: link, id } = await linkFor(hostileTexts.svg);
  await page.goto(link);
  await page.getByText(hostileTexts.svg).waitFor();
  const failed = page.locator('summary', { hasText: /failed 500/ });
  await failed.click();
  await page.getByText(hostileTexts.image).waitFor();
  await page.getByRole('button', { name: 'Resend failed deliveries' }).click();
  await page.getByText('1 deliveries are sent again.').waitFor();
  await allEnded(service.db);
  await page.getByRole('button', { name: 'Refresh' }).click();
  await page.locator('summary', { hasText: /success 204 · attempts: 2/ }).waitFor();
  await page.getByRole('button', { name: 'Replace the secret' }).click();
  await page.getByText(/^whsec_/).waitFor();
  assert.ok(await isUnharmed(page));
  assert.deepEqual(errors, []);
  await page.getByText(/^This link works until /).waitFor();
  await service.call('DELETE', `${links}/${id}`);
  await page.getByRole('button', { name: 'Refresh' }).click();
  await page.getByText('The link is not valid, has expired or was revoked').waitFor();
  await page.close();
  await service.call('DELETE', `/v1/webhooks/${webhook.id}`);
});

test('the page is shown only in frames of the given origins', options, async () => {
  if (browser === null) return;
  const { url } = await linkFor('nobody');
  const page = await browser.newPage();
  await page.goto(await startFrame(framePort, url));
  await page.frameLocator('iframe').getByText('There is no webhook yet.').waitFor();
  const refused = page.waitForEvent('console', (message) =>
    message.text().includes('frame-ancestors'),
  );
  await page.goto(await startFrame(strangerPort, url));
  await refused;
  await page.close();
});
