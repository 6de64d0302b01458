import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createItem, createItems, createReadyItems, query } from '../../../test/seed.ts';
import { notFound, startBulkService, unknownId } from '../../../test/bulk/bulk.ts';

const service = await startBulkService();
const { bulk, item } = service;

describe('the shapes of the specification', () => {
  test('update: successful items in order, the unknown one in failed', async () => {
    const [a = '', b = ''] = await createItems(service, 2);
    const { status, body } = await bulk('update', {
      items: [
        { id: a, title: 'New title', visibility: 'unlisted' },
        { id: unknownId, title: 'Nowhere' },
        { id: b, tags: ['one', 'two'] },
      ],
      continueOnError: true,
    });
    assert.equal(status, 200);
    assert.match(body.meta.requestId, /^req_/);
    assert.deepEqual(body, {
      data: {
        successful: [
          { id: a, status: 'updated' },
          { id: b, status: 'updated' },
        ],
        failed: [{ id: unknownId, error: notFound }],
        totalProcessed: 3,
        totalSuccessful: 2,
        totalFailed: 1,
      },
      meta: { requestId: body.meta.requestId },
    });
    const changed = await item(a);
    assert.deepEqual([changed.title, changed.visibility], ['New title', 'unlisted']);
    assert.deepEqual((await item(b)).tags, ['one', 'two']);
  });

  test('tag: the resulting full list; visibility: the new one; delete: deleted', async () => {
    const id = (await createItem(service, { tags: ['old', 'kept'] })).id;
    const tagged = await bulk('tag', { ids: [id], addTags: ['new'], removeTags: ['old'] });
    assert.deepEqual(tagged.body.data.successful, [{ id, tags: ['kept', 'new'] }]);
    const shown = await bulk('visibility', { ids: [id, unknownId], visibility: 'private' });
    assert.deepEqual(shown.body.data, {
      successful: [{ id, visibility: 'private' }],
      failed: [{ id: unknownId, error: notFound }],
      totalProcessed: 2,
      totalSuccessful: 1,
      totalFailed: 1,
    });
    const deleted = await bulk('delete', { ids: [id] });
    assert.deepEqual(deleted.body.data, {
      successful: [{ id, status: 'deleted' }],
      failed: [],
      totalProcessed: 1,
      totalSuccessful: 1,
      totalFailed: 0,
    });
  });
});

describe('the semantics of each operation', () => {
  test('a repeated id, in any case of its letters, is done and reported once, by its first place', async () => {
    const [a = '', b = ''] = await createItems(service, 2);
    const { body } = await bulk('update', {
      items: [
        { id: b, title: 'First b' },
        { id: a.toUpperCase(), title: 'First a' },
        { id: a, title: 'Second a' },
      ],
    });
    assert.deepEqual(body.data.successful, [
      { id: b, status: 'updated' },
      { id: a, status: 'updated' },
    ]);
    assert.equal((await item(a)).title, 'First a');
    const [{ item_counts: counts }] = (await query(
      service,
      'select item_counts from bulk_allowance',
    )) as [{ item_counts: number[] }];
    assert.deepEqual(counts, [2], 'the limit is charged for two items');
  });

  test('100 items in one request, in the order of the request', async () => {
    const ids = (await createItems(service, 100)).toReversed();
    const { body } = await bulk('visibility', { ids, visibility: 'unlisted' });
    assert.deepEqual(
      body.data.successful.map((one: { id: string }) => one.id),
      ids,
    );
  });

  test('tags: trimmed, without repeats, in order; removeTags win over addTags', async () => {
    const id = (await createItem(service, { tags: ['a', 'b'] })).id;
    const first = await bulk('tag', {
      ids: [id],
      addTags: [' c ', 'a', 'c', 'both'],
      removeTags: ['b', 'both', 'never there'],
    });
    assert.deepEqual(first.body.data.successful, [{ id, tags: ['a', 'c'] }]);
    const emptied = await bulk('tag', { ids: [id], removeTags: ['a', 'c'] });
    assert.deepEqual(emptied.body.data.successful, [{ id, tags: [] }]);
  });

  test('every field of an update is written, and only those that were named', async () => {
    const [id = ''] = await createReadyItems(service, 1);
    const before = await item(id);
    const fields = {
      title: 'All of them',
      description: 'd',
      section: 's',
      author: 'a',
      articleUrl: 'https://example.com/a',
      customMetadata: { k: 1 },
      visibility: 'unlisted',
      tags: ['x', 'y', 'x'],
      publishStatus: 'unpublished',
      publishAt: '2026-01-01T00:00:00+02:00',
      expiresAt: '2027-01-01T00:00:00Z',
    };
    assert.equal((await bulk('update', { items: [{ id, ...fields }] })).body.data.totalFailed, 0);
    const after = await item(id);
    assert.deepEqual(
      {
        ...before,
        ...fields,
        tags: ['x', 'y'],
        publishAt: '2025-12-31T22:00:00.000Z',
        expiresAt: '2027-01-01T00:00:00.000Z',
        updatedAt: after.updatedAt,
      },
      after,
    );
    assert.ok(after.updatedAt > before.updatedAt);
    const nulls = {
      description: null,
      section: null,
      author: null,
      articleUrl: null,
      publishAt: null,
      expiresAt: null,
    };
    await bulk('update', { items: [{ id, ...nulls }] });
    assert.deepEqual(
      { ...after, ...nulls, updatedAt: null },
      { ...(await item(id)), updatedAt: null },
    );
  });

  test('the feed, the list and the item itself show a change in the next request', async () => {
    const ids = await createReadyItems(service, 3, () => ({ section: 'at once' }));
    const feed = async () =>
      (await service.call('GET', '/v1/feed?section=at%20once')).body.data.map(
        (one: { id: string; title: string }) => `${one.id} ${one.title}`,
      );
    assert.equal((await feed()).length, 3);
    await bulk('update', { items: ids.map((id) => ({ id, title: 'Renamed zebra' })) });
    assert.deepEqual((await feed()).toSorted(), ids.map((id) => `${id} Renamed zebra`).toSorted());
    const found = await service.call('GET', '/v1/content?search=zebra');
    assert.equal(found.body.meta.total, 3);
    await bulk('visibility', { ids: ids.slice(0, 1), visibility: 'private' });
    assert.equal((await feed()).length, 2);
    await bulk('delete', { ids: ids.slice(1, 2) });
    assert.deepEqual(await feed(), [`${ids[2]} Renamed zebra`]);
  });
});

describe('at the same time', () => {
  test('requests for the same items in other orders lose nothing and never deadlock', async () => {
    await query(service, 'delete from bulk_allowance');
    const ids = await createItems(service, 30);
    const names = Array.from({ length: 10 }, (_, n) => `name-${n}`);
    const answers = await Promise.all(
      names.map((name, n) =>
        service.call('POST', '/v1/content/bulk/tag', {
          body: { ids: n % 2 === 0 ? ids : ids.toReversed(), addTags: [name] },
        }),
      ),
    );
    for (const { status, body } of answers) {
      assert.deepEqual([status, body.data.totalSuccessful], [200, 30]);
    }
    for (const id of ids) assert.deepEqual((await item(id)).tags.toSorted(), names);
  });

  test('a single change in between is neither lost nor overlooked', async () => {
    const id = (await createItem(service, { tags: ['start'] })).id;
    await Promise.all([
      ...Array.from({ length: 8 }, (_, n) =>
        service.call('PATCH', `/v1/content/${id}`, { body: { customMetadata: { [`k${n}`]: n } } }),
      ),
      ...Array.from({ length: 8 }, (_, n) =>
        service.call('POST', '/v1/content/bulk/update', {
          body: { items: [{ id, customMetadata: { [`bulk${n}`]: n } }] },
        }),
      ),
    ]);
    assert.equal(Object.keys((await item(id)).customMetadata).length, 16);
  });

  test('fifty requests with one Idempotency-Key have one effect', async () => {
    await query(service, 'delete from bulk_allowance');
    const id = (await createItem(service)).id;
    const send50 = () =>
      Array.from({ length: 50 }, () =>
        service.call('POST', '/v1/content/bulk/tag', {
          body: { ids: [id], addTags: ['once'] },
          headers: { 'idempotency-key': 'bulk-once' },
        }),
      );
    const answers = [...(await Promise.all(send50())), ...(await Promise.all(send50()))];
    const bodies = new Set(answers.filter(({ status }) => status === 200).map(({ text }) => text));
    assert.equal(bodies.size, 1, 'all successes repeat the same bytes');
    assert.ok(answers.every(({ status }) => status === 200 || status === 409));
    const [row] = await query(service, 'select revision from content where content_id = $1', [id]);
    assert.equal(row?.['revision'], '2');
    const [allowance] = await query(service, 'select item_counts from bulk_allowance');
    assert.deepEqual(allowance?.['item_counts'], [1], 'replays take nothing from the limit');
  });
});
