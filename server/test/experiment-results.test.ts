/** Proves results as a table, by segment and by day, and the links that share them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createExperiment } from './experiment-samples.ts';
import { createOrganization, query } from './seed.ts';
import { eventually, send, startService, type Reply } from './service.ts';

const service = await startService();
const name = '<b>Bigger & "better"</b>';
const id = await createExperiment(service, {
  name,
  metrics: ['watchTime'],
  guardrails: [{ metric: 'retention', margin: 0.05 }],
});
await service.call('POST', `/v1/experiments/${id}/start`);
for (const [index, country] of ['de', 'de', 'fr'].entries()) {
  const path = `/v1/config?userId=viewer-${index}&country=${country}&device=ios`;
  await send(`${service.url}${path}`, 'GET', { key: service.publishableKey });
}

async function results(query = ''): Promise<Reply> {
  return service.call('GET', `/v1/experiments/${id}/results${query}`);
}

async function open(url: string, accept?: string): Promise<Response> {
  return fetch(url, accept === undefined ? {} : { headers: { accept } });
}

test('results are available by segment and by day, with their correction', async () => {
  const { segments, timeline } = await eventually('three participants', async () => {
    const { body } = await results('?segment=country&granularity=day');
    const shown = body.data.segments.values.flatMap(({ variants }: Reply['body']) => variants);
    const count = shown.reduce((sum: number, one: Reply['body']) => sum + one.participants, 0);
    return count === 3 ? body.data : null;
  });
  assert.deepEqual(
    segments.values.map(({ value }: Reply['body']) => value),
    ['DE', 'FR'],
  );
  assert.equal(segments.metric, 'watchTime');
  assert.deepEqual([segments.correction, segments.comparisons], ['holm', 0]);
  assert.equal(timeline.points.length, 1);
  assert.deepEqual(timeline.novelty, []);
  const other = await results('?segment=newOrReturning&metric=retention');
  assert.equal(other.body.data.segments.metric, 'retention');
  assert.equal(other.body.data.timeline, undefined);
  assert.equal((await results('?segment=planet')).status, 400);
  const unknown = await results('?segment=device&metric=nothing');
  assert.equal(unknown.status, 400);
  assert.equal(unknown.body.error.details?.[0]?.path ?? 'metric', 'metric');
  assert.equal((await results()).body.data.segments, undefined);
});

test('participants are distinguished by the app version in their events', async () => {
  const event = { event: 'custom.opened', userId: 'viewer-1', appVersion: '3.1' };
  const metric = { name: 'opened', type: 'count', event: 'custom.opened' };
  assert.equal((await service.call('POST', '/v1/metrics', { body: metric })).status, 201);
  await eventually('the event is taken', async () =>
    (await service.call('POST', '/v1/events', { body: event })).status === 200 ? true : null,
  );
  await eventually('the version', async () => {
    const { body } = await results('?segment=appVersion&metric=opened');
    const values = body.data.segments.values.map(({ value }: Reply['body']) => value);
    return values.join() === 'unknown,3.1' ? true : null;
  });
});

test('results are available as CSV', async () => {
  const path = `/v1/experiments/${id}/results?segment=device&granularity=day`;
  const reply = await send(`${service.url}${path}`, 'GET', {
    key: service.secretKey,
    headers: { accept: 'text/csv' },
  });
  assert.match(reply.headers.get('content-type') ?? '', /^text\/csv/);
  const [head = '', ...lines] = reply.text.trim().split('\r\n');
  assert.ok(head.startsWith('part,segment,date,variant,participants,metric,value,lift'));
  const parts = new Set(lines.map((line) => line.split(',')[0]));
  assert.deepEqual([...parts], ['results', 'guardrail', 'segment', 'day']);
});

test('a link shows the results to anyone who has it, until it is revoked or expires', async () => {
  const make = () => service.call('POST', `/v1/experiments/${id}/shares`, { body: {} });
  const made = (await make()).body.data;
  const list = await service.call('GET', `/v1/experiments/${id}/shares`);
  assert.deepEqual(list.body.data, [made]);
  const page = await open(made.url);
  assert.equal(page.status, 200);
  assert.match(page.headers.get('content-security-policy') ?? '', /default-src 'none'/);
  assert.equal(page.headers.get('referrer-policy'), 'no-referrer');
  const html = await page.text();
  assert.ok(
    html.includes('&lt;b&gt;Bigger &amp; &quot;better&quot;&lt;/b&gt;') && !html.includes(name),
  );
  // A variant's overrides must not be disclosed.
  assert.ok(!html.includes('sample.n'));
  const json = await (await open(`${made.url}?format=json`)).text();
  assert.ok(json.includes('"recommendation"') && !json.includes('sample.n'));
  assert.match(await (await open(made.url, 'text/csv')).text(), /^part,/);
  for (const wrong of [made.url.slice(0, -1), made.url.replace('shr_0', 'shr_1'), `${made.url}A`]) {
    assert.equal((await open(wrong)).status, 404, wrong);
  }
  const other = await createOrganization(service, 'Other');
  const foreign = await send(`${service.url}/v1/experiments/${id}/shares/${made.id}`, 'DELETE', {
    key: other.secretKey,
  });
  assert.equal(foreign.status, 404);
  const path = `/v1/experiments/${id}/shares/${made.id}`;
  assert.equal((await service.call('DELETE', path)).status, 200);
  assert.equal((await open(made.url)).status, 404);
  assert.equal((await service.call('DELETE', path)).status, 404);
  const later = (await make()).body.data;
  await query(service, 'update experiment_share set expires_at = now() where share_id = $1', [
    later.id,
  ]);
  assert.equal((await open(later.url)).status, 404);
});

test('frozen results include the days', async () => {
  assert.equal(
    (await service.call('POST', `/v1/experiments/${id}/stop`, { body: {} })).status,
    200,
  );
  await eventually('the days are frozen', async () => {
    const [row] = await query(service, 'select results from experiment where experiment_id = $1', [
      id,
    ]);
    const found = row?.['results'] as { timelines?: { metric: string }[] } | undefined;
    return found?.timelines?.map(({ metric }) => metric).join() === 'watchTime,retention'
      ? true
      : null;
  });
  const { body } = await results('?granularity=day');
  assert.equal(body.data.timeline.points.length, 1);
  assert.equal(body.data.timelines, undefined);
});
