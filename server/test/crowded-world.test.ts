/**
 * Proves that the API, the console and the feed page work in a crowded world: every GET operation
 * with every kind of key matches its description and contains no other organization's data, hostile
 * texts are preserved, and every view and slide is shown.
 */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { launchBrowser } from './browser.ts';
import { startCrowdedWorld, type CrowdedWorld } from './crowded-world.ts';
import { assertConforms, lenientAjv, readDescription } from './openapi.ts';
import { send, type Reply } from './service.ts';
import { addConsoleTests } from './world/console-tests.ts';
import { hostileEntries, hostileTexts } from './world/hostile-texts.ts';
import { addPageTests } from './world/page-tests.ts';

type Described = { content?: Record<string, { schema: object }> };
type Operation = { security: object[]; responses: Record<string, Described> };
type Route = { path: string; operation: Operation };

const world = await startCrowdedWorld();
const launched = await launchBrowser();
after(() => launched.browser?.close());
const routes = readReads(await readDescription(world.service.url));
const samples = await samplesOf(world);
const ajv = lenientAjv();

/** Every GET operation with a finite response. */
function readReads(api: { paths: Record<string, { get?: Operation }> }): Route[] {
  return Object.entries(api.paths).flatMap(([path, { get: operation }]) => {
    const isStream = operation?.responses['200']?.content?.['text/event-stream'] !== undefined;
    return operation === undefined || isStream ? [] : [{ path, operation }];
  });
}

/** Sample addresses for each path with parameters. */
async function samplesOf({ service, ...world }: CrowdedWorld): Promise<Record<string, string[]>> {
  const ids = (record: Record<string, string>) => Object.values(record);
  const items = ids(world.items);
  const streams = Object.values(world.streams).map(({ id }) => id);
  const webhooks = ids(world.webhooks);
  const deliveries: string[] = [];
  for (const id of webhooks) {
    const { body } = await service.call('GET', `/v1/webhooks/${id}/deliveries`);
    for (const one of body.data) deliveries.push(`/v1/webhooks/${id}/deliveries/${one.id}`);
  }
  const each = (path: string, all: readonly string[]) => all.map((id) => path.replace('{id}', id));
  const byId: Record<string, readonly string[]> = {
    '/v1/keys/{id}/requests': Object.values(world.keys).map(({ id }) => id),
    '/v1/content/{id}': items,
    '/v1/content/{id}/similar': items,
    '/v1/feed/items/{id}': items,
    '/v1/content/{id}/videos': items,
    '/v1/content/{id}/captions': items,
    '/v1/analytics/content/{id}': items,
    '/v1/analytics/content/{id}/benchmark': items,
    '/v1/analytics/alerts/{id}': ids(world.alerts),
    '/v1/analytics/reports/{id}': ids(world.reports),
    '/v1/analytics/reports/{id}/runs': ids(world.reports),
    '/v1/analytics/reports/{id}/links': ids(world.reports),
    '/v1/analytics/alerts/{id}/events': ids(world.alerts),
    '/v1/content/bulk/jobs/{id}': ids(world.jobs),
    '/v1/content/bulk/jobs/{id}/failures': ids(world.jobs),
    '/v1/webhooks/{id}': webhooks,
    '/v1/webhooks/{id}/deliveries': webhooks,
    '/v1/experiments/{id}': ids(world.experiments),
    '/v1/experiments/{id}/results': ids(world.experiments),
    '/v1/experiments/{id}/assignments': ids(world.experiments),
    '/v1/experiments/{id}/decisions': ids(world.experiments),
    '/v1/experiments/{id}/shares': ids(world.experiments),
    '/v1/exports/{id}': ids(world.exports),
    '/v1/live-streams/{id}': streams,
    '/v1/live-streams/{id}/status': streams,
  };
  const since = new Date(Date.now() - 3_600_000).toISOString();
  return {
    ...Object.fromEntries(Object.entries(byId).map(([path, all]) => [path, each(path, all)])),
    '/v1/webhooks/{webhookId}/deliveries/{deliveryId}': deliveries,
    '/v1/users/{userId}/data': ['/v1/users/erased%20viewer/data'],
    '/v1/users/data': ['/v1/users/data?userId=erased%20viewer'],
    '/v1/analytics/reports/{id}/runs/{runId}': [
      `/v1/analytics/reports/${world.reports['plain']}/runs/${world.runId}`,
    ],
    '/v1/feed/reactions': [
      `/v1/feed/reactions?deviceId=d&contentIds=${items.slice(0, 3).join(',')}`,
    ],
    '/v1/settings/{key}': hostileEntries.map(([name]) => `/v1/settings/text.${name}`),
    '/v1/flags/{key}': ['/v1/flags/nested', '/v1/flags/hostile', '/v1/flags/nothing'],
    '/v1/live-streams/status': [`/v1/live-streams/status?ids=${streams.slice(0, 50).join(',')}`],
    '/v1/webhook-events/recent': [`/v1/webhook-events/recent?since=${since}`],
  };
}

function addressesOf({ path }: Route): string[] {
  const found = samples[path] ?? (path.includes('{') ? [] : [path]);
  assert.ok(found.length > 0, `${path} needs a sample in this test`);
  return found;
}

function assertDeclared({ operation }: Route, reply: Reply, what: string): void {
  assert.ok(reply.status < 500, `${what}: ${reply.status} ${reply.text}`);
  const kind = reply.status >= 400 ? '4XX' : String(reply.status);
  const declared = operation.responses[kind];
  assert.ok(declared, `${what}: ${reply.status} is not declared`);
  assertConforms(ajv, declared, reply, what);
}

/** Items shown only in lists of archived ones, or not at all. */
const hidden = ['archived', 'memberArchived', 'purged'];

test('every GET operation with a secret key responds as described', async () => {
  const absent = new Set(hidden.map((name) => world.items[name] ?? ''));
  for (const route of routes) {
    for (const address of addressesOf(route)) {
      const reply = await world.service.call('GET', address);
      const isAbsent = [...absent].some((id) => address.includes(id));
      const isOther = address.endsWith('/videos') || address.endsWith('/captions');
      const allowed = isAbsent ? [200, 404] : isOther ? [200, 400, 404] : [200];
      assert.ok(allowed.includes(reply.status), `${address}: ${reply.status} ${reply.text}`);
      assertDeclared(route, reply, address);
    }
  }
});

test('every GET operation with any other key succeeds or is rejected as described', async () => {
  const { keys, service } = world;
  const others: [what: string, key: string | null][] = [
    ['none', null],
    ['publishable', service.publishableKey],
    ...Object.entries(keys).map(([name, { key }]): [string, string] => [name, key]),
  ];
  const allowed = new Set([200, 400, 401, 403, 404, 409, 429]);
  for (const route of routes) {
    const [address = ''] = addressesOf(route);
    for (const [what, key] of others) {
      const reply = await service.call('GET', address, { key });
      assert.ok(allowed.has(reply.status), `${address}, ${what}: ${reply.status} ${reply.text}`);
      assertDeclared(route, reply, `${address} with the key ${what}`);
      const isRefusing = what === 'expired' || what === 'revoked' || what === 'none';
      if (isRefusing && route.operation.security.length > 0) assert.equal(reply.status, 401, what);
    }
  }
});

test('another organization finds nothing of it, despite equal external ids', async () => {
  const { neighbour, service, items, webhooks, experiments, keys } = world;
  const ours = [items, webhooks, experiments].flatMap((record) => Object.values(record));
  ours.push(...Object.values(keys).map(({ id }) => id));
  for (const route of routes.filter(({ operation }) => operation.security.length > 0)) {
    for (const address of addressesOf(route).slice(0, 3)) {
      const reply = await service.call('GET', address, { key: neighbour.secretKey });
      assertDeclared(route, reply, address);
      const isNamed = route.path.includes('{') && !route.path.includes('userId');
      if (isNamed) assert.equal(reply.status, 404, address);
      const found = ours.filter((id) => reply.text.includes(id) && !address.includes(id));
      assert.deepEqual(found, [], address);
    }
  }
  for (const externalId of ['same', 'hostile-script', 'far']) {
    const address = `/v1/content?externalId=${externalId}`;
    const theirs = await service.call('GET', address, { key: neighbour.secretKey });
    const own = await service.call('GET', address);
    assert.deepEqual([theirs.body.data.length, own.body.data.length], [1, 1], externalId);
    assert.notEqual(theirs.body.data[0].id, own.body.data[0].id);
  }
});

test('hostile texts come back as they were given, and find their item in every filter', async () => {
  for (const [name, text] of hostileEntries) {
    const id = world.items[name] ?? '';
    const { body } = await world.service.call('GET', `/v1/content/${id}`);
    assert.equal(body.data.title, text, name);
    assert.deepEqual(Object.values(body.data.customMetadata)[0], {
      nested: [text, null, { deep: text }],
    });
    for (const field of ['author', 'section']) {
      const query = `${field}=${encodeURIComponent(text)}`;
      const listed = await world.service.call('GET', `/v1/content?limit=100&${query}`);
      const ids = listed.body.data.map((item: { id: string }) => item.id);
      assert.ok(ids.includes(id), `${name} by ${field}`);
      const feed = await world.service.call('GET', `/v1/feed?limit=50&${query}`);
      assert.equal(feed.status, 200, feed.text);
      const report = await world.service.call('GET', `/v1/analytics/overview?${query}`);
      assert.equal(report.status, 200, report.text);
    }
    const searched = await world.service.call(
      'GET',
      `/v1/content?search=${encodeURIComponent(text)}`,
    );
    assert.equal(searched.status, 200, searched.text);
  }
});

test('reports over every filter and segment respond as described', async () => {
  const filters = [
    ...['device=web', 'country=JP', `entryPoint=${encodeURIComponent(hostileTexts.template)}`],
    ...[`appVersion=${encodeURIComponent(hostileTexts.formula)}`, 'tag=hostile'],
    `contentId=${world.items['portrait']}`,
  ];
  const reports = routes.filter(
    // The lists of alerts and saved reports, and the last hour, have no filters.
    ({ path }) => /^\/v1\/analytics\/(?!alerts|reports|realtime)[a-z]+$/.test(path),
  );
  assert.ok(reports.length >= 7);
  for (const route of reports) {
    for (const filter of filters) {
      const address = `${route.path}?${filter}`;
      const reply = await world.service.call('GET', address);
      assert.equal(reply.status, 200, `${address} ${reply.text}`);
      assertDeclared(route, reply, address);
      const csv = await world.service.call('GET', address, { headers: { accept: 'text/csv' } });
      assert.ok(csv.status === 200 || csv.status === 406, `${address} as CSV: ${csv.status}`);
    }
  }
});

test('carousels come first in the feed, with the members that may be shown', async () => {
  const { service, items } = world;
  const { body } = await send(`${service.url}/v1/feed?limit=50`, 'GET', {
    key: service.publishableKey,
  });
  const order = body.data.map(({ id }: { id: string }) => id);
  const first = ['strangerRow', 'tenImages', 'mixedRow', 'oneImage', 'knownRow', 'movingImages'];
  assert.deepEqual(
    order.slice(0, first.length),
    first.map((name) => items[name]),
  );
  const membersOf = (name: string) =>
    body.data
      .find(({ id }: { id: string }) => id === items[name])
      ?.videos.map(({ id }: { id: string }) => id);
  const named = (...names: string[]) => names.map((name) => items[name]);
  assert.deepEqual(membersOf('strangerRow'), named('memberProtected', 'memberExcluded'));
  assert.deepEqual(membersOf('mixedRow'), named('memberOne', 'emoji'));
  assert.ok(!order.includes(items['memberExcluded']), 'in the carousel alone');
  for (const name of ['emptyRow', 'goneRow', 'noImages', 'private', 'expired', 'scheduled']) {
    assert.ok(!order.includes(items[name]), name);
  }
});

const root = fileURLToPath(new URL('../../', import.meta.url));
const documents = [`${root}README.md`, ...globSync(`${root}docs/*.md`)];
const text = documents.map((file) => readFileSync(file, 'utf8')).join('\n');

/** Routes of trace receivers. */
const foreignRoutes = ['/v1', '/v1/traces'];

test('every route named in the documentation is a route of the API', async () => {
  const api = await readDescription(world.service.url);
  const paths = Object.keys(api.paths);
  const isRoute = (path: string) => {
    const wanted = path.split('/');
    return paths.some((known) => {
      const parts = known.split('/');
      const fits = wanted.every((part, n) => part === parts[n] || parts[n]?.startsWith('{'));
      // A guide may end a path before an id, or refer to a group of routes.
      return fits && wanted.length <= parts.length;
    });
  };
  const named = [...text.matchAll(/(?<![\w/])(?:localhost:4000)?(\/v1\/[\w{}/.-]+)/g)];
  const unknown = named
    .map((match) => (match[1] ?? '').replace(/[./]+$/, ''))
    .filter((path) => !foreignRoutes.includes(path) && !isRoute(path));
  assert.deepEqual([...new Set(unknown)], []);
  for (const path of ['/openapi.json', '/healthz', '/readyz', '/metrics']) {
    assert.equal((await send(world.service.url + path, 'GET')).status, 200, path);
  }
});

addConsoleTests(world, launched);
addPageTests(world, launched);
