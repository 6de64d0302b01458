/** Proves that a feed session repeats nothing and that a cursor always returns the same page. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { createItem, createOrganization, createReadyItems, query } from './seed.ts';
import { eventually, startService, type Reply, type TestService } from './service.ts';

const service = await startService({ REELFEED_ROLES: 'api,worker' });

const idsOf = (reply: Reply): string[] => reply.body.data.map(({ id }: { id: string }) => id);

function feed(from: TestService, search: string, key: string): Promise<Reply> {
  return from.call('GET', `/v1/feed?${search}`, { key });
}

async function newCatalogue(name: string, count: number) {
  const keys = await createOrganization(service, name);
  const own: TestService = {
    ...service,
    ...keys,
    call: (method, path, call) => service.call(method, path, { key: keys.secretKey, ...call }),
  };
  return { own, ids: await createReadyItems(own, count), key: keys.publishableKey };
}

test('25 pages of 20 while items are added, changed and removed: no repeats, and no remaining item missing', async () => {
  const { own, ids, key } = await newCatalogue('Pages', 560);
  const doomed = new Set(ids.slice(0, 40));
  const seen: string[] = [];
  const feedIds = new Set<string>();
  let search = 'limit=20';
  for (let page = 0; page < 25; page += 1) {
    const reply = await feed(service, search, key);
    assert.equal(reply.status, 200, reply.text);
    // The cursor fixed this page, and one item has been removed since.
    assert.ok(idsOf(reply).length >= (page === 0 ? 20 : 19), `page ${page}`);
    seen.push(...idsOf(reply));
    feedIds.add(reply.body.meta.feedId);
    assert.equal(reply.body.meta.hasMore, true);
    search = `limit=20&cursor=${reply.body.meta.nextCursor}`;
    await createReadyItems(own, 1);
    const [gone] = doomed;
    if (gone !== undefined) {
      doomed.delete(gone);
      await own.call('DELETE', `/v1/content/${gone}`);
    }
    const touched = ids[100 + page * 13];
    await own.call('PATCH', `/v1/content/${touched}`, { body: { title: `Touched on ${page}` } });
  }
  assert.equal(new Set(seen).size, seen.length, 'no repeats');
  assert.equal(feedIds.size, 1, 'one session');
  for (;;) {
    const reply = await feed(service, search, key);
    seen.push(...idsOf(reply));
    const { nextCursor, exhausted } = reply.body.meta;
    assert.equal(exhausted, nextCursor === null);
    if (nextCursor === null) break;
    search = `limit=50&cursor=${nextCursor}`;
  }
  assert.equal(new Set(seen).size, seen.length, 'no repeats to the end');
  const living = ids.slice(40);
  const missing = living.filter((id) => !seen.includes(id));
  assert.deepEqual(missing, [], 'every item that lived throughout was shown');
});

test('one cursor gives one page, while items are added, on any process and after a restart', async () => {
  const { own, ids, key } = await newCatalogue('Same page', 70);
  const first = await feed(service, 'limit=20', key);
  const cursors = [first.body.meta.nextCursor];
  const pages = [idsOf(await feed(service, `limit=20&cursor=${cursors[0]}`, key))];
  for (let index = 0; index < 2; index += 1) {
    const reply = await feed(service, `limit=20&cursor=${cursors[index]}`, key);
    cursors.push(reply.body.meta.nextCursor);
    pages.push(idsOf(await feed(service, `limit=20&cursor=${cursors[index + 1]}`, key)));
  }
  assert.deepEqual(
    pages.map((page) => page.length),
    [20, 20, 10],
    'the last one is short',
  );
  await createReadyItems(own, 15);
  const again = async (from: TestService) => {
    for (const [index, cursor] of cursors.entries()) {
      const reply = await feed(from, `limit=20&cursor=${cursor}`, key);
      assert.deepEqual(idsOf(reply), pages[index], `page ${index}`);
    }
  };
  await again(service);
  {
    await using other = await startService({ REELFEED_ROLES: 'api,worker' }, { beside: service });
    await again(other);
  }
  await using restarted = await startService({ REELFEED_ROLES: 'api,worker' }, { beside: service });
  await again(restarted);
  const [, victim = ''] = pages[1] ?? [];
  assert.ok(ids.includes(victim));
  await own.call('PATCH', `/v1/content/${victim}`, { body: { publishStatus: 'unpublished' } });
  const thinner = idsOf(await feed(service, `limit=20&cursor=${cursors[1]}`, key));
  assert.ok(!thinner.includes(victim), 'what may not be shown is left out whatever a cursor says');
});

test('a foreign or damaged cursor is INVALID_CURSOR', async () => {
  const { key, own } = await newCatalogue('Cursors', 30);
  const other = await newCatalogue('Other', 30);
  const page = await feed(service, 'limit=5', key);
  const cursor: string = page.body.meta.nextCursor;
  const list = await own.call('GET', '/v1/content?limit=1');
  const wrong: [string, string][] = [
    [`cursor=${cursor}`, other.key],
    [`cursor=${cursor}&tags=a`, key],
    [`cursor=${cursor}&section=a`, key],
    [`cursor=${cursor}&author=a`, key],
    [`cursor=${cursor}&contentType=video`, key],
    [`cursor=${list.body.meta.nextCursor}`, key],
    [`cursor=${cursor.slice(0, -4)}`, key],
    [`cursor=${cursor}AAAA`, key],
    [`cursor=${cursor.slice(4)}`, key],
    ['cursor=AQ', key],
    ['cursor=!', key],
    ...Array.from({ length: 40 }, (_, index): [string, string] => {
      const at = Math.floor((index * (cursor.length - 2)) / 40);
      const letter = cursor[at] === 'A' ? 'B' : 'A';
      return [`cursor=${cursor.slice(0, at)}${letter}${cursor.slice(at + 1)}`, key];
    }),
  ];
  for (const [search, by] of wrong) {
    const reply = await feed(service, search, by);
    assert.equal(reply.status, 400, search);
    assert.equal(reply.body.error.code, 'INVALID_CURSOR', search);
  }
  assert.equal((await feed(service, `limit=7&cursor=${cursor}`, key)).status, 200);
  assert.equal((await feed(service, `cursor=${cursor}&userId=u`, key)).status, 200);
});

test('newest first, by the later of creation and publishAt, if ranking is off', async () => {
  await using unranked = await startService(
    { REELFEED_ROLES: 'api,worker', REELFEED_FEED_RANKING: 'off' },
    { beside: service },
  );
  const { own, ids, key } = await newCatalogue('Order', 5);
  const old = ids[0] ?? '';
  await query(
    service,
    `update content set created_at = created_at - position * interval '1 hour', revision = revision + 1
     from unnest($1::uuid[]) with ordinality as given (id, position) where content_id = id`,
    [ids],
  );
  await own.call('PATCH', `/v1/content/${old}`, { body: { author: 'noticed' } });
  await eventually('the order', async () =>
    isDeepStrictEqual(idsOf(await feed(unranked, '', key)), ids) ? true : null,
  );
  const last = ids.at(-1) ?? '';
  const publishAt = new Date(Date.now() - 1_000).toISOString();
  await own.call('PATCH', `/v1/content/${last}`, { body: { publishAt } });
  const expected = [last, ...ids.slice(0, -1)];
  // The other process made the change.
  await eventually('the new order', async () =>
    isDeepStrictEqual(idsOf(await feed(unranked, '', key)), expected) ? true : null,
  );
});

test('exclusions alone never end a feed', async () => {
  const { ids, key } = await newCatalogue('Excluded', 260);
  const first = await feed(service, `limit=50&excludeIds=${ids.slice(60, 200).join()}`, key);
  assert.equal(idsOf(first).length, 50);
  assert.equal(first.body.meta.hasMore, true);
  const { id } = await createItem(service);
  assert.ok(!idsOf(first).includes(id));
});
