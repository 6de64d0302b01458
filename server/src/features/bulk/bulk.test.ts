import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  createItem,
  createItems,
  createOrganization,
  createReadyItems,
  query,
} from '../../../test/seed.ts';
import { send, startService } from '../../../test/service.ts';

const service = await startService({ REELFEED_ROLES: 'api' });
const unknownId = '01890000-0000-7000-8000-000000000000';

/** Posts a bulk operation, with the limit out of the way. */
async function bulk(operation: string, body: object) {
  await query(service, 'delete from bulk_allowance');
  return service.call('POST', `/v1/content/bulk/${operation}`, { body });
}

async function item(id: string) {
  return (await service.call('GET', `/v1/content/${id}`)).body.data;
}

const notFound = { code: 'NOT_FOUND', message: 'There is no content item with this id.' };

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

describe('bad requests are refused whole and change nothing', () => {
  const id = unknownId;
  const many = (count: number) => Array.from({ length: count }, () => id);
  const cases: [name: string, operation: string, body: object, code: string, path?: string][] = [
    ['no item', 'update', { items: [] }, 'VALIDATION_ERROR', 'items'],
    ['no id', 'delete', { ids: [] }, 'VALIDATION_ERROR', 'ids'],
    ['101 ids', 'delete', { ids: many(101) }, 'LIMIT_EXCEEDED', 'ids'],
    [
      '101 items',
      'update',
      { items: many(101).map((one) => ({ id: one, title: 'x' })) },
      'LIMIT_EXCEEDED',
      'items',
    ],
    ['an item without a field', 'update', { items: [{ id }] }, 'VALIDATION_ERROR', 'items[0]'],
    [
      'an item without an id',
      'update',
      { items: [{ title: 'x', author: 'y' }] },
      'VALIDATION_ERROR',
      'items[0].id',
    ],
    [
      'an unknown field',
      'update',
      { items: [{ id, titel: 'x' }] },
      'VALIDATION_ERROR',
      'items[0].titel',
    ],
    [
      'a field of the wrong type',
      'update',
      { items: [{ id, title: 5 }] },
      'VALIDATION_ERROR',
      'items[0].title',
    ],
    ['an id of the wrong type', 'delete', { ids: [7] }, 'VALIDATION_ERROR', 'ids[0]'],
    ['an unknown option', 'delete', { ids: [id], force: true }, 'VALIDATION_ERROR', 'force'],
    [
      'continueOnError as text',
      'delete',
      { ids: [id], continueOnError: 'true' },
      'VALIDATION_ERROR',
      'continueOnError',
    ],
    ['no tags at all', 'tag', { ids: [id] }, 'VALIDATION_ERROR', 'addTags'],
    [
      'empty lists of tags',
      'tag',
      { ids: [id], addTags: [], removeTags: [] },
      'VALIDATION_ERROR',
      'addTags',
    ],
    ['an empty tag', 'tag', { ids: [id], addTags: [''] }, 'VALIDATION_ERROR', 'addTags[0]'],
    ['a blank tag', 'tag', { ids: [id], addTags: ['  '] }, 'VALIDATION_ERROR', 'addTags[0]'],
    [
      '10,000 tags',
      'tag',
      { ids: [id], addTags: Array.from({ length: 10_000 }, (_, n) => `t${n}`) },
      'VALIDATION_ERROR',
      'addTags',
    ],
    [
      'an unknown visibility',
      'visibility',
      { ids: [id], visibility: 'hidden' },
      'VALIDATION_ERROR',
      'visibility',
    ],
    ['no visibility', 'visibility', { ids: [id] }, 'VALIDATION_ERROR', 'visibility'],
  ];
  for (const [name, operation, body, code, path] of cases) {
    test(`${name}: ${code}`, async () => {
      const answer = await bulk(operation, body);
      assert.deepEqual([answer.status, answer.body.error.code], [400, code]);
      assert.equal(answer.body.error.details[0].path, path);
      assert.deepEqual(
        await query(service, 'select * from bulk_allowance'),
        [],
        'it counts for nothing',
      );
    });
  }

  test('a publishable key is forbidden, no key is unauthorized', async () => {
    const url = `${service.url}/v1/content/bulk/delete`;
    const body = { ids: [unknownId] };
    assert.equal((await send(url, 'POST', { key: service.publishableKey, body })).status, 403);
    assert.equal((await send(url, 'POST', { body })).status, 401);
  });
});

describe('items that fail', () => {
  test('malformed, unknown, foreign and archived ids are all NOT_FOUND, with the same words', async () => {
    const foreign = await createOrganization(service, 'Another one');
    const theirs = (
      await send(`${service.url}/v1/content/upload`, 'POST', {
        key: foreign.secretKey,
        body: { title: 'Theirs' },
      })
    ).body.data.id;
    const archived = (await createItem(service)).id;
    await service.call('DELETE', `/v1/content/${archived}`);
    const ids = ['no-id', unknownId, theirs, archived];
    for (const operation of ['delete', 'tag', 'visibility', 'update']) {
      const { body } = await bulk(operation, {
        ...(operation === 'update'
          ? { items: ids.map((id) => ({ id, title: 'Taken' })) }
          : { ids }),
        ...(operation === 'tag' && { addTags: ['x'] }),
        ...(operation === 'visibility' && { visibility: 'public' }),
        ...((operation === 'update' || operation === 'delete') && { continueOnError: true }),
      });
      assert.deepEqual(
        body.data.failed,
        ids.map((id) => ({ id, error: notFound })),
        operation,
      );
      assert.equal(body.data.totalFailed, 4);
    }
    const kept = await send(`${service.url}/v1/content/${theirs}`, 'GET', {
      key: foreign.secretKey,
    });
    assert.equal(kept.body.data.title, 'Theirs');
  });

  test('values that an item may not have fail that item alone', async () => {
    const [good = '', pending = ''] = await createItems(service, 2);
    const wrong: object[] = [
      { title: '' },
      { title: 'x'.repeat(201) },
      { visibility: 'secret' },
      { tags: ['a,b'] },
      { tags: [' '] },
      { articleUrl: 'javascript:alert(1)' },
      { publishAt: '2026-02-30T00:00:00Z' },
      { publishAt: '2026-02-03T00:00:00Z', expiresAt: '2026-02-02T00:00:00Z' },
      { publishAt: '0000-01-01T00:00:00Z' },
      { publishStatus: 'published' },
      { customMetadata: { language: 'de' } },
      { customMetadata: { big: 'x'.repeat(17_000) } },
    ];
    for (const fields of wrong) {
      const { status, body } = await bulk('update', {
        items: [
          { id: pending, ...fields },
          { id: good, title: 'Fine' },
        ],
        continueOnError: true,
      });
      assert.equal(status, 200, JSON.stringify(fields));
      assert.equal(body.data.failed[0]?.error.code, 'VALIDATION_ERROR', JSON.stringify(fields));
      assert.deepEqual(body.data.successful, [{ id: good, status: 'updated' }]);
    }
  });

  test('what is there already counts: schedule, metadata and tags after the merge', async () => {
    const id = (
      await createItem(service, {
        expiresAt: '2030-01-01T00:00:00Z',
        customMetadata: { kept: 'x'.repeat(10_000), dropped: 1 },
        tags: Array.from({ length: 99 }, (_, n) => `tag-${n}`),
      })
    ).id;
    const late = await bulk('update', { items: [{ id, publishAt: '2031-01-01T00:00:00Z' }] });
    assert.match(late.body.data.failed[0].error.message, /^expiresAt: must be after publishAt/);
    const big = { items: [{ id, customMetadata: { more: 'y'.repeat(8_000) } }] };
    assert.match((await bulk('update', big)).body.data.failed[0].error.message, /^customMetadata/);
    const crowded = await bulk('tag', { ids: [id], addTags: ['one', 'two'] });
    assert.match(crowded.body.data.failed[0].error.message, /^tags: must be at most 100/);
    const fits = await bulk('update', {
      items: [{ id, customMetadata: { dropped: null, added: { deep: [1] } }, section: null }],
    });
    assert.deepEqual(fits.body.data.failed, []);
    assert.deepEqual((await item(id)).customMetadata, {
      kept: 'x'.repeat(10_000),
      added: { deep: [1] },
    });
  });

  test('continueOnError false, the default: those before the failure stay done', async () => {
    const [a = '', b = '', c = ''] = await createItems(service, 3);
    for (const option of [{}, { continueOnError: false }]) {
      const { body } = await bulk('update', {
        items: [a, unknownId, b, c].map((id) => ({ id, title: 'Reached' })),
        ...option,
      });
      assert.deepEqual(body.data, {
        successful: [{ id: a, status: 'updated' }],
        failed: [{ id: unknownId, error: notFound }],
        totalProcessed: 2,
        totalSuccessful: 1,
        totalFailed: 1,
      });
    }
    assert.equal((await item(a)).title, 'Reached');
    assert.notEqual((await item(b)).title, 'Reached');
    const deleted = await bulk('delete', { ids: [a, unknownId, b] });
    assert.deepEqual(deleted.body.data.successful, [{ id: a, status: 'deleted' }]);
    assert.equal(deleted.body.data.totalProcessed, 2);
    assert.ok(await item(b));
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
