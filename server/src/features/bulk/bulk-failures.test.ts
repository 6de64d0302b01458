import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createItem, createItems, createOrganization, query } from '../../../test/seed.ts';
import { send } from '../../../test/service.ts';
import { notFound, startBulkService, unknownId } from '../../../test/bulk/bulk.ts';

const service = await startBulkService();
const { bulk, item } = service;

describe('invalid requests are rejected as a whole and change nothing', () => {
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
      'an id with a NUL',
      'update',
      { items: [{ id: 'a\0b', title: 'x' }] },
      'VALIDATION_ERROR',
      'id',
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
  test('malformed, unknown and foreign ids are NOT_FOUND, archived ones but for a deletion', async () => {
    const foreign = await createOrganization(service, 'Another one');
    const theirs = (
      await send(`${service.url}/v1/content/upload`, 'POST', {
        key: foreign.secretKey,
        body: { title: 'Theirs' },
      })
    ).body.data.id;
    const archived = (await createItem(service)).id;
    await service.call('DELETE', `/v1/content/${archived}`);
    for (const operation of ['delete', 'tag', 'visibility', 'update']) {
      const ids = ['no-id', unknownId, theirs, ...(operation === 'delete' ? [] : [archived])];
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
      assert.equal(body.data.totalFailed, ids.length);
    }
    const kept = await send(`${service.url}/v1/content/${theirs}`, 'GET', {
      key: foreign.secretKey,
    });
    assert.equal(kept.body.data.title, 'Theirs');
  });

  test('values that an item may not have fail only that item', async () => {
    const [good = '', pending = ''] = await createItems(service, 2);
    const wrong: object[] = [
      { title: '' },
      { title: 'x'.repeat(201) },
      { title: 5 },
      { title: 'a\0b' },
      { description: 'half \ud800' },
      { tags: 'a' },
      { customMetadata: [1] },
      { publishAt: 0 },
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

  test('custom metadata is measured as PATCH measures it, also with numbers of 300 digits', async () => {
    const customMetadata = Object.fromEntries(
      Array.from({ length: 60 }, (_, index) => [`n${index}`, 1e308]),
    );
    const [patched = '', updated = ''] = await createItems(service, 2);
    const patch = await service.call('PATCH', `/v1/content/${patched}`, {
      body: { customMetadata },
    });
    assert.equal(patch.status, 200, patch.text);
    const { body } = await bulk('update', { items: [{ id: updated, customMetadata }] });
    assert.deepEqual(body.data.failed, []);
    assert.deepEqual((await item(updated)).customMetadata, customMetadata);
    const more = { items: [{ id: updated, customMetadata: { more: 'y'.repeat(16_000) } }] };
    const refused = await bulk('update', more);
    const alike = await service.call('PATCH', `/v1/content/${patched}`, {
      body: { customMetadata: { more: 'y'.repeat(16_000) } },
    });
    assert.equal(alike.status, 400);
    assert.equal(refused.body.data.failed[0].error.message, alike.body.error.message);
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
