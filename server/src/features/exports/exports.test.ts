import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { parquetReadObjects } from 'hyparquet';
import { sampleEvent } from '../../../test/event-samples.ts';
import { createItem, createOrganization } from '../../../test/seed.ts';
import { eventually, startService } from '../../../test/service.ts';
import { formatDay } from '../analytics/reports/period.ts';
import { dayMs } from '../../platform/values/time.ts';

const service = await startService({ REELFEED_ROLES: 'api,worker' });
const today = formatDay(Date.now());
const yesterday = formatDay(Date.now() - dayMs);
const days = { startDate: yesterday, endDate: today };
const awkward = 'A "title", with commas,\r\nlines and \u{1F3AC}';
const item = await createItem(service, { title: awkward, tags: ['one', 'two'] });
const nothing = await createItem(service, { title: 'Nothing happened' });

const events = [
  sampleEvent('playStart', item.id, { userId: 'ada', data: { startupTime: 120 } }),
  sampleEvent('watchProgress', item.id, {
    userId: 'ada',
    data: { currentTime: 5, duration: 10, watchTime: 5, note: 'a, "b"' },
  }),
  sampleEvent('like', item.id, { userId: 'bob', appVersion: '2.4.1' }),
];
await service.call('POST', '/v1/events/batch', { body: { events } });

type Body = Record<string, unknown>;
type Exported = { id: string; downloadUrl: string; rowCount: number; fileSize: number };

async function make(body: Body): Promise<Exported> {
  const made = await service.call('POST', '/v1/exports', { body: { ...days, ...body } });
  assert.equal(made.status, 201, made.text);
  assert.equal(made.body.data.downloadUrl, null);
  return eventually('the export to be ready', async () => {
    const { body: found } = await service.call('GET', `/v1/exports/${made.body.data.id}`);
    assert.notEqual(found.data.status, 'failed');
    return found.data.status === 'ready' ? (found.data as Exported) : null;
  });
}

async function download({ downloadUrl, fileSize }: Exported): Promise<Buffer> {
  const answer = await fetch(local(downloadUrl));
  assert.equal(answer.status, 200);
  assert.match(answer.headers.get('content-disposition') ?? '', /^attachment; filename="/);
  const bytes = Buffer.from(await answer.arrayBuffer());
  assert.equal(bytes.length, fileSize);
  return bytes;
}

function local(url: string): string {
  return `${service.url}${url.slice(url.indexOf('/v1/'))}`;
}

const lines = (bytes: Buffer) =>
  bytes
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Body);

async function readParquet(bytes: Buffer): Promise<Body[]> {
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer;
  return parquetReadObjects({
    file,
    compressors: { GZIP: (input) => new Uint8Array(gunzipSync(input)) },
  });
}

describe('an export', () => {
  test('of events contains each of them, with the same values in every format', async () => {
    const plain = lines(await download(await make({ dataset: 'events', format: 'ndjson' })));
    const own = plain.filter((row) => row['contentId'] === item.id);
    assert.deepEqual(
      own.map(({ eventId, event, userId, data }) => ({ eventId, event, userId, data })),
      events.map(({ eventId, event, userId, data = {} }) => ({ eventId, event, userId, data })),
    );
    assert.deepEqual(
      own.map(({ appVersion, bot }) => [appVersion, bot]),
      [
        [null, false],
        [null, false],
        ['2.4.1', false],
      ],
    );
    const zipped = await make({ dataset: 'events', format: 'ndjson', compression: 'gzip' });
    assert.equal(zipped.rowCount, plain.length);
    assert.deepEqual(lines(gunzipSync(await download(zipped))), plain);
    for (const compression of ['none', 'gzip']) {
      const parquet = await make({ dataset: 'events', format: 'parquet', compression });
      const rows = await readParquet(await download(parquet));
      assert.deepEqual(
        rows.map((row) => ({
          ...row,
          timestamp: (row['timestamp'] as Date).toISOString(),
          receivedAt: (row['receivedAt'] as Date).toISOString(),
        })),
        plain.map((row) => row),
      );
    }
  });

  test('of content escapes special characters in CSV', async () => {
    const bytes = await download(await make({ dataset: 'content', format: 'csv' }));
    const text = bytes.toString('utf8');
    const [header = ''] = text.split('\r\n');
    assert.match(header, /^id,contentType,title,/);
    assert.ok(text.includes(`${item.id},video,"${awkward.replaceAll('"', '""')}",`));
    assert.ok(text.includes('"[""one"",""two""]"'));
    const rows = await readParquet(
      await download(await make({ dataset: 'content', format: 'parquet' })),
    );
    const found = rows.find((row) => row['id'] === item.id);
    assert.equal(found?.['title'], awkward);
    assert.deepEqual(found?.['tags'], ['one', 'two']);
    assert.equal(found?.['duration'], null);
    assert.equal(rows.length, 2);
  });

  test('of analytics contains the metrics of each item and day', async () => {
    await eventually('the events to be counted', async () => {
      const { body } = await service.call('GET', `/v1/analytics/content/${item.id}`);
      return body.data.summary.likes === 1 ? true : null;
    });
    const rows = lines(await download(await make({ dataset: 'analytics', format: 'ndjson' })));
    assert.equal(rows.length, 1);
    assert.deepEqual(
      [rows[0]?.['date'], rows[0]?.['contentId'], rows[0]?.['plays'], rows[0]?.['uniqueViewers']],
      [today, item.id, 1, 1],
    );
    assert.equal(rows[0]?.['averagePercentWatched'], 0.5);
    assert.ok(nothing.id !== rows[0]?.['contentId']);
  });

  test('without rows is still a file', async () => {
    const range = { startDate: '2001-01-01', endDate: '2001-01-01' };
    const csv = await make({ dataset: 'content', format: 'csv', ...range });
    assert.match((await download(csv)).toString(), /^id,contentType,[^\n]*\r\n$/);
    const parquet = await make({ dataset: 'events', format: 'parquet', ...range });
    assert.deepEqual(await readParquet(await download(parquet)), []);
    assert.equal(parquet.rowCount, 0);
  });

  test('is announced to webhooks in the transaction that makes it ready', async () => {
    const body = { url: 'https://hooks.example.com/', events: ['export.ready'] };
    const webhook = await service.call('POST', '/v1/webhooks', { body });
    const { id, rowCount, fileSize } = await make({ dataset: 'content', format: 'csv' });
    const path = `/v1/webhooks/${webhook.body.data.id}/deliveries`;
    const { body: deliveries } = await service.call('GET', path);
    assert.equal(deliveries.data.length, 1);
    const { data } = deliveries.data[0].payload;
    assert.deepEqual(
      [data.exportId, data.status, data.format, data.rowCount, data.fileSize],
      [id, 'ready', 'csv', rowCount, fileSize],
    );
    assert.equal((await fetch(local(data.downloadUrl))).status, 200);
    assert.ok(Date.parse(data.expiresAt) > Date.now() + 6 * dayMs);
  });

  test('contains no formulas in CSV, whoever wrote the text; other formats keep the text unchanged', async () => {
    const formula = '=HYPERLINK("http://x","y")';
    const made = await createItem(service, { title: formula, author: '@me', description: '-1+1' });
    const event = sampleEvent('like', made.id, { userId: '=1+1', deviceId: '\uff1d1' });
    const sent = await service.call('POST', '/v1/events', {
      body: event,
      key: service.publishableKey,
    });
    assert.equal(sent.status, 200, sent.text);
    const text = async (dataset: string) =>
      (await download(await make({ dataset, format: 'csv' }))).toString('utf8');
    const content = await text('content');
    assert.ok(content.includes(`${made.id},video,"'=HYPERLINK(""http://x"",""y"")",`));
    const events = await text('events');
    assert.ok(events.includes(",'=1+1,'\uff1d1,"), events);
    for (const csv of [content, events]) assert.doesNotMatch(csv, /(^|,|")[=@\uff1d]/m);
    const plain = lines(await download(await make({ dataset: 'content', format: 'ndjson' })));
    assert.equal(plain.find((row) => row['id'] === made.id)?.['title'], formula);
    const report = await eventually('the event to be counted', async () => {
      const headers = { accept: 'text/csv' };
      const { text: csv } = await service.call('GET', '/v1/analytics/content', { headers });
      return csv.includes(made.id) ? csv : null;
    });
    assert.ok(report.includes(`${made.id},"'=HYPERLINK(""http://x"",""y"")",`), report);
  });
});

describe('requesting an export', () => {
  test('is rejected if it is invalid', async () => {
    const wrong: [Body, string][] = [
      [{ dataset: 'users', format: 'csv' }, 'dataset'],
      [{ dataset: 'events', format: 'xlsx' }, 'format'],
      [{ dataset: 'events', format: 'csv', compression: 'zip' }, 'compression'],
      [{ dataset: 'events', format: 'csv', startDate: '2026-02-30' }, 'startDate'],
      [{ dataset: 'events', format: 'csv', endDate: '2001-01-01' }, 'endDate'],
      [{ dataset: 'events', format: 'csv', startDate: '2001-01-01' }, 'endDate'],
    ];
    for (const [body, field] of wrong) {
      const answer = await service.call('POST', '/v1/exports', { body: { ...days, ...body } });
      assert.equal(answer.status, 400, answer.text);
      assert.equal(answer.body.error.code, 'VALIDATION_ERROR');
      assert.match(answer.body.error.details[0].path, new RegExp(field));
    }
  });

  test('responds by id and as a list, only to its organization', async () => {
    const { id } = await make({ dataset: 'content', format: 'csv' });
    const { body } = await service.call('GET', '/v1/exports?limit=1');
    assert.equal(body.data[0].id, id);
    assert.ok(body.meta.total > 1 && body.meta.nextCursor !== null);
    const other = await createOrganization(service, 'Other');
    const foreign = await service.call('GET', `/v1/exports/${id}`, { key: other.secretKey });
    assert.equal(foreign.status, 404);
    assert.equal((await service.call('GET', '/v1/exports/dex_nonsense')).status, 404);
  });
});

describe('a download', () => {
  test('needs an authentic URL that has not expired', async () => {
    const { downloadUrl } = await make({ dataset: 'content', format: 'csv' });
    const url = new URL(local(downloadUrl));
    const changed = (name: string, value: string) => {
      const copy = new URL(url);
      copy.searchParams.set(name, value);
      return fetch(copy);
    };
    assert.equal((await changed('expires', '9999999999')).status, 404);
    const forged = createHmac('sha256', 'guess').update('x').digest('base64url').slice(0, 32);
    assert.equal((await changed('signature', forged)).status, 404);
    assert.equal((await changed('signature', '')).status, 404);
    assert.equal((await fetch(url)).status, 200);
  });

  test('ends when its file expires, or a viewer is erased', async () => {
    const content = await make({ dataset: 'content', format: 'csv' });
    const ofEvents = await make({ dataset: 'events', format: 'csv' });
    await service.call('DELETE', '/v1/users/ada/data');
    await eventually('the erasure to end', async () => {
      const { body } = await service.call('GET', '/v1/users/ada/data');
      return body.data.status === 'complete' ? true : null;
    });
    assert.equal((await fetch(local(ofEvents.downloadUrl))).status, 404);
    const { body } = await service.call('GET', `/v1/exports/${ofEvents.id}`);
    assert.deepEqual([body.data.status, body.data.downloadUrl], ['expired', null]);
    assert.equal((await fetch(local(content.downloadUrl))).status, 200);
  });
});
