/** Proves the content list: every filter, every order, and paging without gaps or repeats. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { Client } from 'pg';
import { poolConnection } from '../src/platform/database/database.ts';
import { createItem, createItems, createOrganization, createReadyItems, query } from './seed.ts';
import { startService, type Reply, type TestService } from './service.ts';

const service = await startService({ REELFEED_ROLES: 'api,worker' });

type Listed = { id: string; title: string; createdAt: string; updatedAt: string };

/** Reads all pages of a list. `between` runs after each page. */
async function walk(
  target: string,
  { key, between }: { key?: string; between?: () => Promise<unknown> } = {},
): Promise<Listed[]> {
  const items: Listed[] = [];
  let cursor: string | null = null;
  do {
    const url: string = cursor === null ? target : `${target}&cursor=${cursor}`;
    const reply: Reply = await service.call('GET', url, key === undefined ? {} : { key });
    assert.equal(reply.status, 200, reply.text);
    items.push(...reply.body.data);
    cursor = reply.body.meta.nextCursor;
    await between?.();
  } while (cursor !== null);
  return items;
}

async function titles(search: string, key?: string): Promise<string[]> {
  const items = await walk(`/v1/content?limit=100&${search}`, key === undefined ? {} : { key });
  return items.map(({ title }) => title).toSorted();
}

/** The service with another organization's secret key. */
function as(key: string): TestService {
  return { ...service, call: (method, path, call) => service.call(method, path, { key, ...call }) };
}

let filtered = '';

before(async () => {
  const { secretKey } = await createOrganization(service, 'Filters');
  filtered = secretKey;
  const own = as(secretKey);
  await createItem(own, { title: 'plain' });
  await createItem(own, { title: 'tagged a', tags: ['a', 'big cat'] });
  await createItem(own, { title: 'tagged b', tags: ['b'], section: 'Sport', author: 'Ada' });
  await createItem(own, { title: 'tagged A', tags: ['A'], section: 'sport', author: 'ada' });
  await createItem(own, { title: 'unlisted', visibility: 'unlisted' });
  await createItem(own, { title: 'private', visibility: 'private' });
  await createReadyItems(own, 1, () => ({ title: 'ready' }));
  const { id } = await createItem(own, { title: 'archived', tags: ['a'] });
  await own.call('DELETE', `/v1/content/${id}`);
});

test('each filter lists exactly what it says', async () => {
  const rest = ['plain', 'private', 'ready', 'tagged A', 'tagged a', 'tagged b', 'unlisted'];
  const cases: Record<string, string[]> = {
    '': rest,
    'archived=true': [...rest, 'archived'].toSorted(),
    'archived=only': ['archived'],
    'tags=a': ['tagged a'],
    'tags=a,b': ['tagged a', 'tagged b'],
    'tags=big%20cat': ['tagged a'],
    'tags=%20a%20,%20': ['tagged a'],
    'tags=none': [],
    'tags=a&archived=true': ['archived', 'tagged a'],
    'contentType=video': rest,
    'contentType=carousel': [],
    'uploadStatus=ready': ['ready'],
    'uploadStatus=error': [],
    'publishStatus=published': ['ready'],
    'publishStatus=unpublished&visibility=private': ['private'],
    'visibility=unlisted': ['unlisted'],
    'section=Sport': ['tagged b'],
    'author=ada': ['tagged A'],
    'section=Sport&author=ada': [],
    'createdAfter=2020-01-01T00:00:00Z': rest,
    'createdBefore=2020-01-01T00:00:00Z': [],
    'createdAfter=2099-01-01t00:00:00%2B01:00': [],
  };
  for (const [search, expected] of Object.entries(cases)) {
    assert.deepEqual(await titles(search, filtered), expected, search);
    const { body } = await service.call('GET', `/v1/content?${search}`, { key: filtered });
    assert.equal(body.meta.total, expected.length, search);
  }
});

test('createdAfter and createdBefore exclude the item of that exact millisecond', async () => {
  const own = as((await createOrganization(service, 'Moments')).secretKey);
  const { createdAt } = await createItem(own, { title: 'exact' });
  const at = encodeURIComponent(createdAt);
  const list = async (search: string) =>
    (await own.call('GET', `/v1/content?${search}`)).body.data.length;
  assert.equal(await list(`createdAfter=${at}`), 0);
  assert.equal(await list(`createdBefore=${at}`), 0);
  const around = (ms: number) => new Date(Date.parse(createdAt) + ms).toISOString();
  assert.equal(await list(`createdAfter=${around(-1)}&createdBefore=${around(1)}`), 1);
});

test('search finds word beginnings and treats all other characters literally', async () => {
  const own = as((await createOrganization(service, 'Search')).secretKey);
  const items = [
    { title: 'The big cat', description: 'sleeps all day' },
    { title: 'A bigger dog' },
    { title: '100% pure_gold' },
    { title: 'Version 2.0 of app.example.com' },
    { title: "O'Reilly & sons | (really) <-> !" },
    { title: 'Überraschung im Café' },
    { title: '日本語 字幕' },
    { title: 'well-known user@example.com' },
    { title: '日本語の動画', description: 'スマートフォンで撮影した東京の夜景、iPhoneアプリ' },
    { title: '东京铁塔', description: '在北京拍摄的视频' },
    { title: 'either/or', description: 'crème–brûlée, \u{1F36E}straße, smørrebrød, Łódź' },
  ];
  for (const item of items) await createItem(own, item);
  const found = async (search: string) => {
    const reply = await own.call('GET', `/v1/content?search=${encodeURIComponent(search)}`);
    assert.equal(reply.status, 200, `${search}: ${reply.text}`);
    return reply.body.data.map(({ title }: Listed) => title).toSorted();
  };
  const cases: Record<string, number[]> = {
    big: [0, 1],
    'BIG CAT': [0],
    'cat big': [0],
    'big sleep': [0],
    'big zebra': [],
    at: [],
    '%': [],
    _: [],
    '100%': [2],
    pure: [2],
    gold: [2],
    '2.0': [3],
    'app.example.com': [3],
    "o'reilly": [4],
    "'": [],
    '\\': [],
    'big & !cat': [0],
    'big | dog': [1],
    "cat' | 'dog": [],
    ':*': [],
    '!!': [],
    über: [5],
    caf: [5],
    日本: [6, 8],
    日本語: [6, 8],
    動画: [8],
    語の動画: [8],
    の: [8],
    画: [8],
    画動: [],
    日語: [],
    京: [8, 9],
    東京: [8],
    '東京 動画': [8],
    フォン: [8],
    iphone: [8],
    iphoneアプリ: [8],
    アプ: [8],
    视频: [9],
    '北京 铁塔': [9],
    東京铁塔: [],
    'well-known': [7],
    'user@example.com': [7],
    example: [3, 7],
    com: [3, 7],
    or: [10],
    'either/or': [10],
    ueber: [],
    uber: [5],
    CAFE: [5],
    'cafe\u0301': [5],
    creme: [10],
    brulee: [10],
    strasse: [10],
    smorre: [10],
    lodz: [10],
    "'; drop table content; --": [],
    '\u{1F3AC}': [],
  };
  for (const [search, indexes] of Object.entries(cases)) {
    const expected = indexes.map((index) => items[index]?.title ?? '').toSorted();
    assert.deepEqual(await found(search), expected, search);
  }
  for (const sign of ['%', "'", '"', '\\', '--', '_', '*', '$1', '{}', '\u{1F3AC}']) {
    const text = encodeURIComponent(`a${sign}b`);
    for (const filter of [`tags=${text}`, `section=${text}`, `author=${text}`]) {
      const reply = await own.call('GET', `/v1/content?${filter}`);
      assert.deepEqual(reply.body.data, [], filter);
    }
  }
});

test('each sort gives one stable order in both directions, over pages of three', async () => {
  const own = as((await createOrganization(service, 'Sorting')).secretKey);
  const names = ['b', 'a', 'C', 'ä', '\u{1F3AC}', 'a', 'z', 'a', 'Z', '10'];
  for (const title of names) await createItem(own, { title });
  const all = await own.call('GET', '/v1/content?sort=createdAt&order=asc');
  for (const { id } of all.body.data.slice(2, 6)) {
    await own.call('PATCH', `/v1/content/${id}`, { body: { description: 'touched' } });
  }
  for (const sort of ['createdAt', 'updatedAt', 'title'] as const) {
    const orders: Record<string, string[]> = {};
    for (const order of ['asc', 'desc']) {
      const pages = [];
      let cursor: string | null = '';
      while (cursor !== null) {
        const target: string = `/v1/content?limit=3&sort=${sort}&order=${order}`;
        const next: string = cursor === '' ? target : `${target}&cursor=${cursor}`;
        const { body } = await own.call('GET', next);
        pages.push(...body.data);
        cursor = body.meta.nextCursor;
      }
      assert.equal(pages.length, names.length);
      if (sort !== 'title') {
        const times = pages.map((item) => Date.parse(item[sort]));
        const sorted = times.toSorted((a, b) => (order === 'asc' ? a - b : b - a));
        assert.deepEqual(times, sorted, `${sort} ${order}`);
      }
      orders[order] = pages.map(({ id }) => id);
    }
    assert.deepEqual(orders['asc'], orders['desc']?.toReversed(), sort);
    const { body } = await own.call('GET', `/v1/content?sort=${sort}`);
    if (sort === 'title') {
      const sorted = ['\u{1F3AC}', '10', 'a', 'a', 'a', 'ä', 'b', 'C', 'z', 'Z'];
      assert.deepEqual(
        body.data.map(({ title }: Listed) => title),
        sorted,
        'by language rules',
      );
    }
    const byDefault = body.data.map(({ id }: Listed) => id);
    assert.deepEqual(byDefault, orders[sort === 'title' ? 'asc' : 'desc'], `${sort} by default`);
  }
});

test('500 items at limit=7 while others are created, changed and deleted: none missing, none twice', async () => {
  const { secretKey } = await createOrganization(service, 'Paging');
  const own = as(secretKey);
  const stable = new Set(await createItems(own, 500, (index) => ({ title: `Item ${index % 50}` })));
  const doomed = await createItems(own, 60);
  const ids = [...stable];
  let turn = 0;
  const disturb = async () => {
    turn += 1;
    await createItem(own, { title: `Item ${turn % 60}` });
    const body = { description: `Changed in turn ${turn}` };
    await own.call('PATCH', `/v1/content/${ids[(turn * 37) % ids.length]}`, { body });
    const gone = turn % 5 === 0 ? doomed.pop() : undefined;
    if (gone !== undefined) await own.call('DELETE', `/v1/content/${gone}`);
  };
  for (const order of ['sort=createdAt&order=desc', 'sort=title&order=asc']) {
    const seen = await walk(`/v1/content?limit=7&${order}`, { key: secretKey, between: disturb });
    const times = Map.groupBy(seen, ({ id }) => id);
    const missing = ids.filter((id) => !times.has(id));
    assert.deepEqual(missing, [], `${order}: none missing`);
    const twice = [...times].filter(([, items]) => items.length > 1).map(([id]) => id);
    assert.deepEqual(twice, [], `${order}: none twice`);
  }
});

test('a cursor is valid only for its own list, filter, order and organization', async () => {
  const first = await service.call('POST', '/v1/content/upload', { body: { title: 'one' } });
  assert.equal(first.status, 201);
  await createItems(service, 3);
  const other = await createOrganization(service, 'Foreign cursor');
  await createItems(as(other.secretKey), 3);
  const { body } = await service.call('GET', '/v1/content?limit=1&tags=&section=x');
  assert.equal(body.error.code, 'VALIDATION_ERROR');
  const page = await service.call('GET', '/v1/content?limit=1');
  const cursor: string = page.body.meta.nextCursor;
  assert.equal((await service.call('GET', `/v1/content?cursor=${cursor}`)).status, 200);
  const damaged = [
    ...Array.from({ length: cursor.length }, (_, index) => {
      const letter = cursor[index] === 'A' ? 'B' : 'A';
      return cursor.slice(0, index) + letter + cursor.slice(index + 1);
    }),
    cursor.slice(0, -1),
    cursor.slice(4),
    `${cursor}AAAA`,
    'AQ',
    'x',
    '%F0%9F%8E%AC',
    'null',
    '%27%20or%201=1',
  ];
  const targets = [
    `/v1/content?sort=title&cursor=${cursor}`,
    `/v1/content?order=asc&cursor=${cursor}`,
    `/v1/content?section=x&cursor=${cursor}`,
    `/v1/content?archived=true&cursor=${cursor}`,
    `/v1/keys?cursor=${cursor}`,
    `/v1/feed?cursor=${cursor}`,
    ...damaged.map((one) => `/v1/content?cursor=${one}`),
  ];
  for (const target of targets) {
    const reply = await service.call('GET', target);
    // The last base64 character has spare bits, so two texts can encode the same bytes.
    if (reply.status === 200 && target.length === `/v1/content?cursor=${cursor}`.length) {
      const text = target.split('cursor=')[1] ?? '';
      const isSame = Buffer.from(text, 'base64url').equals(Buffer.from(cursor, 'base64url'));
      if (isSame) continue;
    }
    assert.equal(reply.status, 400, target);
    assert.equal(reply.body.error.code, 'INVALID_CURSOR', target);
  }
  const foreign = await service.call('GET', `/v1/content?cursor=${cursor}`, {
    key: other.secretKey,
  });
  assert.equal(foreign.body.error.code, 'INVALID_CURSOR');
  const larger = await service.call('GET', `/v1/content?limit=50&cursor=${cursor}`);
  assert.equal(larger.status, 200, 'the size of the page may change');
});

test('the total is exact after every change, whoever makes it and whenever it commits', async () => {
  const { secretKey } = await createOrganization(service, 'Counted');
  const own = as(secretKey);
  const total = async (search = '') =>
    (await own.call('GET', `/v1/content?limit=1${search}`)).body.meta.total as number;
  assert.equal(await total(), 0);
  const ids = await createItems(own, 5, () => ({ tags: ['counted'] }));
  assert.deepEqual([await total(), await total('&tags=counted')], [5, 5]);
  assert.deepEqual([await total(), await total('&tags=counted')], [5, 5], 'asked again');
  const [first = '', second = '', third = ''] = ids;
  await own.call('PATCH', `/v1/content/${first}`, { body: { tags: [] } });
  assert.deepEqual([await total(), await total('&tags=counted')], [5, 4]);
  await own.call('DELETE', `/v1/content/${second}`);
  assert.deepEqual([await total(), await total('&archived=only')], [4, 1]);
  await own.call('POST', '/v1/content/bulk/delete', { body: { ids: [second, third] } });
  assert.deepEqual([await total(), await total('&archived=only')], [3, 0]);
  // A transaction that started before a count and commits after it.
  const client = new Client(poolConnection(service.connection));
  await client.connect();
  await client.query('begin');
  await client.query("update content set tags = '{counted}' where content_id = $1", [first]);
  await createItem(own, { tags: ['counted'] });
  assert.deepEqual([await total(), await total('&tags=counted')], [4, 3]);
  await client.query('commit');
  await client.end();
  assert.equal(await total('&tags=counted'), 4);
});

test('an organization lists only its own items', async () => {
  const other = await createOrganization(service, 'Alone');
  const mine = await createItem(as(other.secretKey), { title: 'mine alone' });
  const { body } = await service.call('GET', '/v1/content?limit=100', { key: other.secretKey });
  assert.deepEqual(
    body.data.map(({ id }: Listed) => id),
    [mine.id],
  );
  const [row] = await query(service, 'select count(*)::int as n from content');
  assert.ok(Number(row?.['n']) > 1);
});
