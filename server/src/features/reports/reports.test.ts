/** Proves that saved reports run once per due time, are announced, mailed, and shown by link. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { SMTPServer } from 'smtp-server';
import { atEnd, silentLog } from '../../../test/database.ts';
import { startReceiver } from '../../../test/receiver.ts';
import { createItems, query } from '../../../test/seed.ts';
import { eventually, startService } from '../../../test/service.ts';
import { until } from '../../../test/waiting.ts';
import { openDatabase } from '../../platform/database/database.ts';
import { dayMs } from '../../platform/values/time.ts';
import { startDueRuns } from './runs.ts';

const mails: string[] = [];
const mailServer = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS', 'AUTH'],
  onData(stream, _session, taken) {
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('end', () => {
      mails.push(Buffer.concat(chunks).toString('utf8'));
      taken();
    });
  },
});
const listener = mailServer.listen(0, '127.0.0.1');
await once(listener, 'listening');
atEnd(() => new Promise<void>((resolve) => mailServer.close(resolve)));
const told: { reportId: string; runId: string; data: { summary: { plays: number } } }[] = [];
const receiver = await startReceiver(({ body }) => {
  told.push(JSON.parse(body.toString()).data);
  return 204;
});
const { port } = listener.address() as AddressInfo;
const service = await startService({
  REELFEED_EGRESS_ALLOW: receiver.allow,
  REELFEED_SMTP_URL: `smtp://127.0.0.1:${port}`,
});
const database = openDatabase({ connection: service.connection, poolSize: 6, log: silentLog });
atEnd(() => database[Symbol.asyncDispose]());
const { db } = database;
const { signal } = new AbortController();
const day = (daysAgo: number) => new Date(Date.now() - daysAgo * dayMs).toISOString().slice(0, 10);

const path = '/v1/analytics/reports';
const create = async (fields: object): Promise<string> => {
  const body = { name: 'Plays', report: 'overview', range: 'yesterday', ...fields };
  const made = await service.call('POST', path, { body });
  assert.equal(made.status, 201, made.text);
  return made.body.data.id;
};
const runsOf = async (id: string) =>
  (await service.call('GET', `${path}/${id}/runs?limit=100`)).body.data as {
    id: string;
    dueAt: string | null;
    status: string;
    startDate: string;
  }[];

test('each due time has one run, regardless of concurrency and delay', async () => {
  const id = await create({ schedule: { every: 'day', hour: 6 } });
  await query(
    service,
    `update saved_report set next_at = (current_date - 3)::timestamp at time zone 'UTC' + interval '6 hours' where report_id = $1`,
    [id],
  );
  const now = new Date();
  await Promise.all([1, 2, 3].map(() => startDueRuns(db, now, signal)));
  const expected = [3, 2, 1, 0]
    .map((daysAgo) => `${day(daysAgo)}T06:00:00.000Z`)
    .filter((moment) => Date.parse(moment) <= now.getTime());
  // The service itself may be starting one, whose row the others skip.
  const runs = await until(
    'the due runs',
    () => runsOf(id),
    ({ length }) => length === expected.length,
  );
  assert.deepEqual(runs.map(({ dueAt }) => dueAt).toSorted(), expected);
  assert.equal(runs.find(({ dueAt }) => dueAt === expected[0])?.startDate, day(4));
  await startDueRuns(db, now, signal);
  assert.equal((await runsOf(id)).length, expected.length);
  const { body } = await service.call('GET', `${path}/${id}`);
  assert.ok(Date.parse(body.data.nextAt) > now.getTime());
});

test('a run is kept, announced to webhooks once, and mailed with its rows', async () => {
  const [contentId] = await createItems(service, 1);
  await service.call('POST', '/v1/webhooks', {
    body: { url: receiver.url, events: ['analytics.report'] },
  });
  const id = await create({
    query: { breakdown: 'device', top: 3 },
    recipients: ['ada@example.com'],
    postsWebhook: true,
  });
  await service.call('POST', '/v1/events', {
    key: service.publishableKey,
    body: { event: 'playStart', contentId, userId: 'u', data: { startupTime: 1 } },
  });
  const started = await service.call('POST', `${path}/${id}/runs`);
  assert.equal(started.status, 201, started.text);
  const runPath = `${path}/${id}/runs/${started.body.data.id}`;
  await eventually('the mail to be noted', async () => {
    const { body } = await service.call('GET', runPath);
    return body.data.mailedAt;
  });
  const run = (await service.call('GET', runPath)).body.data;
  assert.equal(run.status, 'ready');
  assert.deepEqual(run.data.breakdown.dimensions, ['device']);
  await eventually('the webhook to be told', async () => told[0] ?? null);
  assert.deepEqual(
    told.map(({ reportId, runId }) => [reportId, runId]),
    [[id, run.id]],
  );
  assert.equal(mails.length, 1);
  assert.match(mails[0] ?? '', /Subject: Plays: \d{4}-\d\d-\d\d/);
  assert.match(mails[0] ?? '', new RegExp(`Message-ID: <report-${run.id}@reelfeed>`));
  assert.match(mails[0] ?? '', /filename=overview-\d{4}-\d\d-\d\d\.csv/);
  const csv = await service.call('GET', runPath, { headers: { accept: 'text/csv' } });
  assert.match(csv.text, /^group,device,/);
});

test('a link shows the report to anyone who has it, until it is revoked', async () => {
  const id = await create({ name: '<b>Hours</b>', report: 'hours', range: 'last7Days' });
  const made = await service.call('POST', `${path}/${id}/links`, { body: {} });
  const url = new URL(made.body.data.url);
  const open = (format: string) =>
    fetch(`${service.url}${url.pathname}?format=${format}`, { redirect: 'error' });
  const page = await (await open('html')).text();
  assert.ok(page.includes('&lt;b&gt;Hours') && !page.includes('<b>Hours'));
  assert.equal((await (await open('csv')).text()).split('\r\n').length, 7 * 24 + 2);
  const { data } = (await (await open('json')).json()) as { data: { endDate: string } };
  assert.equal(data.endDate, day(1));
  const wrong = `${service.url}${url.pathname.slice(0, -1)}${url.pathname.endsWith('A') ? 'B' : 'A'}`;
  assert.equal((await fetch(wrong)).status, 404);
  await service.call('DELETE', `${path}/${id}/links/${made.body.data.id}`);
  assert.equal((await open('html')).status, 404);
});

test('an invalid report is rejected, and a report can be changed', async () => {
  const wrong: [object, string][] = [
    [{ query: { segment: 'tag' } }, 'query.segment'],
    [{ report: 'retention', query: { breakdown: 'device' } }, 'query.breakdown'],
    [{ report: 'hours', range: 'last90Days' }, 'range'],
    [{ query: { country: 'XX' } }, 'query.country'],
    [{ query: { breakdown: 'nothing' } }, 'query.breakdown'],
    [{ query: { startDate: '2026-01-01' } }, 'query.startDate'],
    [{ schedule: { every: 'day', hour: 6, timeZone: 'Mars/Base' } }, 'schedule.timeZone'],
    [{ schedule: { every: 'day', hour: 24 } }, 'schedule'],
    [{ recipients: ['nobody'] }, 'recipients'],
  ];
  for (const [fields, at] of wrong) {
    const body = { name: 'Wrong', report: 'overview', ...fields };
    const answer = await service.call('POST', path, { body });
    assert.equal(answer.status, 400, JSON.stringify(fields));
    assert.ok(answer.body.error.details[0].path.includes(at), answer.text);
  }
  const id = await create({ schedule: { every: 'month', day: 1, hour: 0 } });
  const changed = await service.call('PATCH', `${path}/${id}`, {
    body: { schedule: null, query: { tag: 'one' } },
  });
  assert.equal(changed.status, 200, changed.text);
  assert.deepEqual([changed.body.data.nextAt, changed.body.data.query], [null, { tag: 'one' }]);
  assert.equal((await service.call('DELETE', `${path}/${id}`)).status, 200);
  assert.equal((await service.call('GET', `${path}/${id}`)).status, 404);
});
