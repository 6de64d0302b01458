/** Proves the options of exports, and how exports are monitored, cancelled and downloaded. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { sampleEvent } from '../../../test/event-samples.ts';
import { createExperiment } from '../../../test/experiment-samples.ts';
import { createItem, createOrganization, query } from '../../../test/seed.ts';
import { eventually, startService } from '../../../test/service.ts';
import { dayMs, hourMs } from '../../platform/values/time.ts';
import { clockOf } from '../../platform/values/zone-clock.ts';

const service = await startService({ REELFEED_ROLES: 'api,worker' });
const timeZone = 'Pacific/Kiritimati';
await service.call('PATCH', '/v1/organization', { body: { timeZone } });
const clock = clockOf(timeZone);
const localDay = (ms: number) => new Date(clock.localOf(ms)).toISOString().slice(0, 10);
const days = { startDate: localDay(Date.now() - dayMs), endDate: localDay(Date.now()) };

const tagged = await createItem(service, { title: 'Tagged', tags: ['news'], author: 'ada' });
const other = await createItem(service, { title: 'Other' });
const atHour = (hoursAgo: number) => new Date(Date.now() - hoursAgo * hourMs).toISOString();
const events = [
  sampleEvent('playStart', tagged.id, { userId: 'ada', device: 'ios', timestamp: atHour(20) }),
  sampleEvent('like', tagged.id, { userId: 'ada', device: 'ios', appVersion: '2.4.1' }),
  sampleEvent('playStart', other.id, { userId: 'bob', device: 'web', timestamp: atHour(3) }),
  sampleEvent('share', other.id, { userId: undefined, deviceId: 'tablet', device: 'android' }),
];
const sent = await service.call('POST', '/v1/events/batch', { body: { events } });
assert.equal(sent.body.data.received, events.length, sent.text);

type Fields = Record<string, unknown>;
type Exported = { id: string; downloadUrl: string; rowCount: number; fileSize: number };

async function make(body: Fields): Promise<Exported> {
  const made = await service.call('POST', '/v1/exports', {
    body: { ...days, format: 'ndjson', ...body },
  });
  assert.equal(made.status, 201, made.text);
  return eventually('the export to be ready', async () => {
    const { body: found } = await service.call('GET', `/v1/exports/${made.body.data.id}`);
    assert.notEqual(found.data.status, 'failed');
    return found.data.status === 'ready' ? (found.data as Exported) : null;
  });
}

const local = (url: string) => `${service.url}${url.slice(url.indexOf('/v1/'))}`;

async function download({ downloadUrl }: Exported): Promise<Buffer> {
  return Buffer.from(await (await fetch(local(downloadUrl))).arrayBuffer());
}

async function rowsOf(body: Fields): Promise<Fields[]> {
  const text = (await download(await make(body))).toString('utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Fields);
}

describe('an export', () => {
  test('contains the days of the organization, as reports do', async () => {
    const dayOf = (event: Fields) => localDay(Date.parse(String(event['timestamp'])));
    for (const day of new Set(events.map(dayOf))) {
      const rows = await rowsOf({ dataset: 'events', startDate: day, endDate: day });
      const expected = events.filter((event) => dayOf(event) === day);
      assert.deepEqual(
        rows.map(({ eventId }) => eventId).toSorted(),
        expected.map(({ eventId }) => eventId).toSorted(),
        day,
      );
    }
  });

  test('accepts the filters of reports', async () => {
    const cases: [Fields, number[]][] = [
      [{ device: 'ios' }, [0, 1]],
      [{ appVersion: '2.4.1' }, [1]],
      [{ tag: 'news' }, [0, 1]],
      [{ author: 'ada', device: 'web' }, []],
      [{ contentId: other.id }, [2, 3]],
    ];
    for (const [filter, indexes] of cases) {
      const rows = await rowsOf({ dataset: 'events', filter });
      assert.deepEqual(
        rows.map(({ eventId }) => eventId).toSorted(),
        indexes.map((index) => events[index]?.['eventId']).toSorted(),
        JSON.stringify(filter),
      );
    }
    assert.deepEqual(
      (await rowsOf({ dataset: 'content', filter: { tag: 'news' } })).map(({ id }) => id),
      [tagged.id],
    );
  });

  test('of analytics adds up to the report with the same filter', async () => {
    for (const filter of [{}, { device: 'web' }, { tag: 'news' }] as Record<string, string>[]) {
      const search = new URLSearchParams({ ...days, ...filter });
      const report = await eventually('the events to be counted', async () => {
        const { body } = await service.call('GET', `/v1/analytics/overview?${search}`);
        return body.data.summary.plays > 0 ? body.data.summary : null;
      });
      const rows = await rowsOf({ dataset: 'analytics', filter });
      for (const metric of ['plays', 'likes', 'shares', 'impressions']) {
        const sum = rows.reduce((total, row) => total + Number(row[metric]), 0);
        assert.equal(sum, report[metric], `${metric} of ${JSON.stringify(filter)}`);
      }
    }
  });

  test('of viewers has one row per viewer', async () => {
    const rows = await rowsOf({ dataset: 'viewers' });
    assert.deepEqual(
      rows
        .map(({ viewerId, kind, events: count, plays, likes, shares, device, appVersion }) =>
          [viewerId, kind, count, plays, likes, shares, device, appVersion].join(),
        )
        .toSorted(),
      ['ada,user,2,1,1,0,ios,2.4.1', 'bob,user,1,1,0,0,web,', 'tablet,device,1,0,0,1,android,'],
    );
    const ada = rows.find(({ viewerId }) => viewerId === 'ada');
    assert.deepEqual(
      [ada?.['firstSeenAt'], ada?.['lastSeenAt']],
      [events[0]?.['timestamp'], events[1]?.['timestamp']],
    );
  });

  test('of experiments and webhooks contains what happened, and no secrets', async () => {
    const experimentId = await createExperiment(service);
    const variants = await rowsOf({ dataset: 'experiments' });
    const own = variants.filter((row) => row['experimentId'] === experimentId);
    assert.ok(own.length >= 2);
    assert.equal(own.filter(({ isControl }) => isControl === true).length, 1);
    assert.ok(own.every(({ viewers }) => viewers === 0));

    const webhook = { url: 'https://hooks.example.com/?token=secret-token', events: ['*'] };
    const { body } = await service.call('POST', '/v1/webhooks', { body: webhook });
    await query(
      service,
      `insert into webhook_delivery_log (organization_id, webhook_id, delivery_id, event_id, kind,
         body, is_test, occurred_at, created_at, status, attempts, last_attempt_at, status_code,
         response_time_ms, last_error, response)
       select organization_id, webhook_id, 'dlv_1', gen_random_uuid(), 'content.ready',
         'secret body', false, now(), now(), 'failed', 3, now(), 500, 12, 'secret error', 'answer'
       from webhook where webhook_id = $1`,
      [body.data.id],
    );
    const deliveries = await rowsOf({ dataset: 'webhooks' });
    const delivery = deliveries.find(({ deliveryId }) => deliveryId === 'dlv_1');
    assert.deepEqual(
      [delivery?.['webhookId'], delivery?.['status'], delivery?.['statusCode']],
      [body.data.id, 'failed', 500],
    );
    assert.doesNotMatch(JSON.stringify(deliveries), /secret/);
  });

  test('is compressed as requested', async () => {
    const unpack = {
      none: (bytes: Buffer) => bytes,
      gzip: (bytes: Buffer) => gunzipSync(bytes),
      zstd: (bytes: Buffer) => zstdDecompressSync(bytes),
    };
    for (const format of ['csv', 'ndjson']) {
      const plain = await download(await make({ dataset: 'events', format }));
      for (const compression of ['none', 'gzip', 'zstd'] as const) {
        const bytes = await download(await make({ dataset: 'events', format, compression }));
        assert.deepEqual(unpack[compression](bytes), plain, `${format} ${compression}`);
        const range = { startDate: '2001-01-01', endDate: '2001-01-01' };
        const empty = await make({ dataset: 'webhooks', format, compression, ...range });
        const text = unpack[compression](await download(empty)).toString();
        assert.match(text, format === 'csv' ? /^deliveryId,[^\n]*\r\n$/ : /^$/);
      }
    }
  });

  test('is rejected for a filter that is invalid or that its dataset does not support', async () => {
    const wrong: [Fields, string][] = [
      [{ dataset: 'content', filter: { country: 'DE' } }, 'filter.country'],
      [{ dataset: 'webhooks', filter: { tag: 'news' } }, 'filter.tag'],
      [{ dataset: 'events', filter: { country: 'XX' } }, 'filter.country'],
      [{ dataset: 'events', filter: { contentId: 'x' } }, 'filter.contentId'],
      [{ dataset: 'events', filter: { colour: 'red' } }, 'filter.colour'],
    ];
    for (const [fields, path] of wrong) {
      const body = { ...days, format: 'csv', ...fields };
      const answer = await service.call('POST', '/v1/exports', { body });
      assert.equal(answer.status, 400, answer.text);
      assert.equal(answer.body.error.details[0].path, path);
    }
  });

  test('has the columns described by the schemas', async () => {
    const { body } = await service.call('GET', '/v1/exports/schemas');
    assert.equal(body.data.length, 6);
    for (const { dataset, columns } of body.data) {
      const csv = await make({ dataset, format: 'csv' });
      const [header = ''] = (await download(csv)).toString().split('\r\n');
      assert.equal(header, columns.map(({ name }: Fields) => name).join(), dataset);
      assert.ok(columns.every(({ description }: Fields) => description !== ''));
    }
  });
});

describe('the end of an export', () => {
  test('a ready export cannot be cancelled, but it can be deleted with its file', async () => {
    const made = await make({ dataset: 'content' });
    const path = `/v1/exports/${made.id}`;
    const refused = await service.call('POST', `${path}/cancel`);
    assert.deepEqual([refused.status, refused.body.error.code], [409, 'CONFLICT']);
    const { secretKey: key } = await createOrganization(service, 'Stranger');
    assert.equal((await service.call('DELETE', path, { key })).status, 404);
    assert.equal((await service.call('POST', `${path}/cancel`, { key })).status, 404);
    const deleted = await service.call('DELETE', path);
    assert.deepEqual(deleted.body.data, { id: made.id, deleted: true });
    assert.equal((await fetch(local(made.downloadUrl))).status, 404);
    assert.equal((await service.call('GET', path)).status, 404);
    assert.equal((await service.call('DELETE', path)).status, 404);
  });

  test('reports its progress', async () => {
    const made = await make({ dataset: 'events' });
    const { body } = await service.call('GET', `/v1/exports/${made.id}`);
    assert.deepEqual([body.data.progress, body.data.timeZone], [1, timeZone]);
  });
});

test('an interrupted download resumes', async () => {
  const made = await make({ dataset: 'events' });
  const url = local(made.downloadUrl);
  const whole = await fetch(url);
  const bytes = Buffer.from(await whole.arrayBuffer());
  const etag = whole.headers.get('etag') ?? '';
  assert.equal(whole.headers.get('accept-ranges'), 'bytes');
  const ask = (headers: Record<string, string>) => fetch(url, { headers });
  const part = await ask({ range: 'bytes=10-19', 'if-range': etag });
  assert.equal(part.status, 206);
  assert.equal(part.headers.get('content-range'), `bytes 10-19/${bytes.length}`);
  assert.deepEqual(Buffer.from(await part.arrayBuffer()), bytes.subarray(10, 20));
  const rest = await ask({ range: `bytes=${bytes.length - 5}-` });
  assert.deepEqual(Buffer.from(await rest.arrayBuffer()), bytes.subarray(-5));
  assert.equal((await ask({ range: 'bytes=0-1', 'if-range': '"other"' })).status, 200);
  assert.equal((await ask({ 'if-none-match': etag })).status, 304);
  const beyond = await ask({ range: `bytes=${bytes.length}-` });
  assert.equal(beyond.status, 416);
  assert.equal(beyond.headers.get('content-range'), `bytes */${bytes.length}`);
  const head = await fetch(url, { method: 'HEAD' });
  assert.equal(head.headers.get('content-length'), String(bytes.length));
});
