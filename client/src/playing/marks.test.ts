import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { type FeedItem } from '../types.ts';
import { Marks } from './marks.ts';
import { type Store } from './store.ts';

const item = (id: string) => ({ id, engagement: { likes: 2 } }) as FeedItem;

function memory(): Store & { readonly kept: Map<string, string> } {
  const kept = new Map<string, string>();
  return {
    kept,
    read: (name) => kept.get(name) ?? null,
    write: (name, value) => void kept.set(name, value),
    remove: (name) => void kept.delete(name),
  };
}

test('marks belong to the user, and nobody else using the browser sees them', () => {
  const store = memory();
  const [one, other] = [item('one'), item('other')];
  const ada = new Marks(store, 'likes', 'ada');
  assert.equal(ada.toggle(one), true);
  assert.equal(ada.countOf(one), 3);
  new Marks(store, 'likes', null).toggle(other);
  const has = (user: string | null) =>
    ['one', 'other'].map((id) => new Marks(store, 'likes', user).has(id));
  assert.deepEqual(has('ada'), [true, false]);
  assert.deepEqual(has('eve'), [false, false]);
  assert.deepEqual(has(null), [false, true]);
  assert.equal(new Marks(store, 'saves', 'ada').has('one'), false);
  assert.ok(![...store.kept.keys()].some((name) => name.includes('ada')), 'no user id is kept');
});

test('the marks of the most recent users are kept', () => {
  const store = memory();
  for (let user = 0; user < 30; user += 1)
    new Marks(store, 'likes', `u${user}`).toggle(item('one'));
  assert.ok(store.kept.size <= 17, `${store.kept.size} texts`);
  assert.equal(new Marks(store, 'likes', 'u29').has('one'), true);
  assert.equal(new Marks(store, 'likes', 'u0').has('one'), false);
});

test('data from the service replaces what the browser remembers, except for a recent change', () => {
  const store = memory();
  let now = 0;
  const open = () => new Marks(store, 'likes', 'ada', () => now);
  const held = (marks: Marks) => ['one', 'two', 'three'].filter((id) => marks.has(id));
  const marks = open();
  marks.toggle(item('one'));
  marks.take(['one', 'two'], ['two']);
  assert.deepEqual(held(marks), ['one', 'two'], 'the like of a moment ago stands');
  now += 59_000;
  const reopened = open();
  now += 59_000;
  reopened.take(['one'], []);
  assert.deepEqual(
    held(reopened),
    ['one', 'two'],
    'its event may wait until the page is opened again',
  );
  now += 2_000;
  reopened.take(['one', 'two'], []);
  assert.deepEqual(held(reopened), [], 'taken back on another device');
});

test('a confirmed change does not override the next response of the service', () => {
  const store = memory();
  const marks = new Marks(store, 'likes', 'ada', () => 0);
  marks.toggle(item('one'));
  marks.take(['one'], ['one']);
  marks.take(['one'], []);
  assert.equal(marks.has('one'), false);
});
