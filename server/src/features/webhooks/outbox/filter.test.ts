import assert from 'node:assert/strict';
import { test } from 'node:test';
import { extensionsOf } from '../../../app/composition.ts';
import { features } from '../../../app/features.ts';
import { startReceiver } from '../../../../test/receiver.ts';
import { allEnded, startWebhookService } from '../webhooks.fixture.ts';
import { createCatalogue } from './event-kinds.ts';
import { kindsThatNeverPass, passes, type Filter } from './filter.ts';

const catalogue = createCatalogue(extensionsOf(features.list));
const kinds = (...names: string[]) =>
  new Map([...catalogue.declared].filter(([kind]) => names.includes(kind)));

test('each condition holds for what it says and for nothing else', () => {
  const data = {
    title: 'News: today',
    duration: 60,
    error: { code: 'NO_VIDEO' },
    items: [{ status: 'ready' }, { status: 'error', tries: 3 }],
    winner: null,
  };
  const cases: [Filter, boolean][] = [
    [{ title: { prefix: 'News:' } }, true],
    [{ title: { prefix: 'Old' } }, false],
    [{ title: { equals: 'News: today' } }, true],
    [{ title: { in: ['a', 'News: today'] } }, true],
    [{ title: { in: ['a'] } }, false],
    [{ duration: { gte: 60, lt: 61 } }, true],
    [{ duration: { gt: 60 } }, false],
    [{ duration: { equals: '60' } }, false],
    [{ title: { gt: 1 } }, false],
    [{ 'error.code': { equals: 'NO_VIDEO' } }, true],
    [{ 'error.message': { exists: false } }, true],
    [{ 'error.code': { exists: true, prefix: 'NO' } }, true],
    [{ 'error.code': { exists: false } }, false],
    [{ 'items.status': { equals: 'error' } }, true],
    [{ 'items.tries': { gt: 2 } }, true],
    [{ 'items.status': { equals: 'gone' } }, false],
    [{ winner: { equals: null } }, true],
    [{ winner: { exists: true } }, true],
    [{ absent: { equals: null } }, false],
    [{ title: { prefix: 'News' }, duration: { gt: 100 } }, false],
    [{ constructor: { exists: true } }, false],
    [{ '__proto__.constructor': { exists: true } }, false],
  ];
  for (const [filter, expected] of cases) {
    assert.equal(passes(filter, data), expected, JSON.stringify(filter));
  }
});

test('the catalogue tells which kinds can never pass', () => {
  const both = kinds('content.ready', 'content.errored');
  assert.deepEqual(kindsThatNeverPass({ title: { prefix: 'x' } }, both), []);
  assert.deepEqual(kindsThatNeverPass({ duration: { gt: 5 } }, both), ['content.errored']);
  assert.deepEqual(kindsThatNeverPass({ status: { equals: 'error' } }, both), ['content.ready']);
  assert.deepEqual(kindsThatNeverPass({ 'error.code': { exists: false } }, both), []);
  const imports = kinds('content.import.finished');
  assert.deepEqual(kindsThatNeverPass({ 'items.status': { in: ['error'] } }, imports), []);
  for (const filter of [
    { title: { gt: 5 } },
    { title: { equals: 5 } },
    { nothing: { exists: true } },
    { status: { in: ['gone'] } },
    { duration: { gt: 5, lt: 5 } },
    { duration: { gte: 6, lt: 5 } },
    { duration: { exists: false, gt: 5 } },
    { 'a..b': { exists: true } },
  ] as Filter[]) {
    assert.throws(
      () => kindsThatNeverPass(filter, kinds('content.ready')),
      { code: 'VALIDATION_ERROR' },
      JSON.stringify(filter),
    );
  }
});

const receiver = await startReceiver();
const service = await startWebhookService({ REELFEED_EGRESS_ALLOW: receiver.allow });

test('a webhook gets the events that pass its filter, also by a replay', async () => {
  const create = (fields: object) =>
    service.call('POST', '/v1/webhooks', { body: { url: receiver.url, events: ['*'], ...fields } });
  const since = new Date(Date.now() - 60_000).toISOString();
  await service.cause('Other: before');
  await service.cause('News: before');
  const made = await create({ filter: { title: { prefix: 'News: ' } } });
  assert.equal(made.status, 201, made.text);
  assert.deepEqual(made.body.data.filter, { title: { prefix: 'News: ' } });
  assert.ok(made.body.data.neverMatches.includes('export.ready'));
  assert.ok(!made.body.data.neverMatches.includes('content.errored'));
  await service.cause('News: one');
  await service.cause('Other: two');
  await allEnded(service.db);
  const titles = () =>
    receiver.requests.map(({ body }) => JSON.parse(body).data.title as string).toSorted();
  assert.deepEqual(titles(), ['News: one']);
  const path = `/v1/webhooks/${made.body.data.id}`;
  const replayed = await service.call('POST', `${path}/replay`, { body: { since } });
  assert.equal(replayed.body.data.created, 1);
  await allEnded(service.db);
  assert.deepEqual(titles(), ['News: before', 'News: one']);

  const removed = await service.call('PATCH', path, { body: { filter: null } });
  assert.equal(removed.body.data.filter, null);
  assert.deepEqual(removed.body.data.neverMatches, []);
  const never = await service.call('PATCH', path, {
    body: { events: ['export.ready'], filter: { title: { exists: true } } },
  });
  assert.equal(never.status, 400);
  assert.deepEqual(never.body.error.details, [
    { path: 'filter.title', message: 'can never hold for export.ready' },
  ]);
  const empty = await create({ filter: {} });
  assert.equal(empty.body.error.code, 'VALIDATION_ERROR');
  const unknown = await create({ filter: { title: { matches: 'a' } } });
  assert.equal(unknown.body.error.code, 'VALIDATION_ERROR');
});
