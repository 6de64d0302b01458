/**
 * Proves the promises of `pictures.ts`. A map that tests change stands in for the rows of a
 * database.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLog as log } from '../../../test/database.ts';
import { until } from '../../../test/waiting.ts';
import type { OrganizationId } from '../values/ids.ts';
import { Pictures, type PictureOptions } from './pictures.ts';

const [a, b]: OrganizationId[] = ['org_a', 'org_b'];
if (a === undefined || b === undefined) throw new Error('There are two organizations.');
const never = 3_600_000;

const seen = (what: string, is: () => boolean) => until(what, is, Boolean);

/** Rows, and pictures of them; `gate` blocks every read until it resolves. */
function open(options: Partial<PictureOptions<string>> = {}) {
  const rows = new Map([
    [a, 'first'],
    [b, 'second'],
  ] as [OrganizationId, string][]);
  const world = { rows, reads: 0, gate: Promise.resolve(), isAway: false };
  const read = async (organizationId: OrganizationId) => {
    world.reads += 1;
    const found = rows.get(organizationId) ?? 'none';
    await world.gate;
    if (world.isAway) throw new Error('away');
    return found;
  };
  const pictures = new Pictures<string>({
    name: 'test',
    log,
    pollMs: never,
    load: read,
    async refresh(known) {
      const changed = new Map<OrganizationId, string>();
      for (const id of known.keys()) changed.set(id, await read(id));
      return changed;
    },
    ...options,
  });
  return { world, pictures };
}

test('all who ask for an organization share one load, and later ones read nothing', async () => {
  const { world, pictures } = open();
  await using _ = pictures;
  assert.deepEqual(await Promise.all([pictures.of(a), pictures.of(a)]), ['first', 'first']);
  assert.equal(await pictures.of(a), 'first');
  assert.equal(world.reads, 1);
  assert.deepEqual([pictures.peek(a), pictures.peek(b)], ['first', null]);
});

test('a change of this process is in the next picture, though a refresh was under way', async () => {
  const { world, pictures } = open();
  await using _ = pictures;
  await pictures.of(a);
  const { promise, resolve } = Promise.withResolvers<void>();
  world.gate = promise;
  const underWay = pictures.refresh();
  await seen('a reading to begin', () => world.reads === 2);
  world.rows.set(a, 'changed');
  pictures.markChanged();
  const asked = pictures.of(a);
  resolve();
  await underWay;
  assert.equal(await asked, 'changed');
  assert.equal(await pictures.of(a), 'changed');
  assert.equal(world.reads, 3);
});

test('what is outdated while it is loaded is loaded again', async () => {
  const { world, pictures } = open();
  await using _ = pictures;
  const { promise, resolve } = Promise.withResolvers<void>();
  world.gate = promise;
  const early = pictures.of(a);
  await seen('a reading to begin', () => world.reads === 1);
  world.rows.set(a, 'changed');
  pictures.outdate(a);
  const late = pictures.of(a);
  resolve();
  assert.deepEqual(await Promise.all([early, late]), ['changed', 'changed']);
});

test('what is outdated during a refresh does not come back as it was', async () => {
  const { world, pictures } = open();
  await using _ = pictures;
  await pictures.of(a);
  const { promise, resolve } = Promise.withResolvers<void>();
  world.gate = promise;
  const refreshing = pictures.refresh();
  await seen('a reading to begin', () => world.reads === 2);
  world.rows.set(a, 'changed');
  pictures.outdate(a);
  assert.deepEqual([pictures.find(a), pictures.peek(a)], [null, 'first']);
  resolve();
  await refreshing;
  assert.equal(await pictures.of(a), 'changed');
});

test('a failed refresh holds up those who need the change, and the others only once', async () => {
  const { world, pictures } = open();
  await using _ = pictures;
  await pictures.of(a);
  world.isAway = true;
  world.rows.set(a, 'changed');
  pictures.markChanged();
  const readsBefore = world.reads;
  await Promise.all([pictures.settled(), pictures.settled()]);
  await pictures.settled();
  assert.equal(world.reads, readsBefore + 1);
  assert.equal(pictures.peek(a), 'first');
  await assert.rejects(pictures.of(a), /away/);
  world.isAway = false;
  assert.equal(await pictures.of(a), 'changed');
});

test('a change that can’t be read in time holds up nobody who has set a deadline', async () => {
  const { world, pictures } = open();
  await using _ = pictures;
  await pictures.of(a);
  const { promise, resolve } = Promise.withResolvers<void>();
  world.gate = promise;
  world.rows.set(a, 'changed');
  pictures.markChanged();
  assert.equal(await pictures.of(a, performance.now() + 20), 'first');
  resolve();
  assert.equal(await pictures.of(a), 'changed');
});

test('a load that catches up runs beside refreshes, and is known once it has caught up', async () => {
  const { promise: slow, resolve } = Promise.withResolvers<void>();
  const steps: string[] = [];
  await using pictures = new Pictures<string[]>({
    name: 'slow',
    log,
    pollMs: 60_000,
    load: async (organizationId) => {
      if (organizationId === a) await slow;
      return [];
    },
    catchUp: async (organizationId, picture) => {
      steps.push(`${organizationId === a ? 'a' : 'b'} caught up`);
      picture.push('caught up');
    },
    refresh: async (known) => {
      steps.push(`refresh of ${known.size}`);
      return null;
    },
  });
  const late = pictures.of(a);
  await pictures.of(b);
  await pictures.refresh();
  assert.equal(pictures.peek(a), null);
  resolve();
  assert.deepEqual(await late, ['caught up']);
  assert.deepEqual(steps, ['b caught up', 'refresh of 1', 'a caught up']);
});

test('the poll finds changes of others, rests while nothing is known, and drops what is gone', async () => {
  const { world, pictures } = open({ pollMs: 5 });
  await using _ = pictures;
  await pictures.of(a);
  world.rows.set(a, 'changed');
  await seen('the change of another process', () => pictures.peek(a) === 'changed');
  const eager = new Map([[b, 'second']] as [OrganizationId, string | null][]);
  await using all = new Pictures<string>({
    name: 'eager',
    log,
    pollMs: 5,
    keeps: 'all',
    load: async () => 'unused',
    refresh: async () => eager,
  });
  await seen('a picture nobody asked for', () => all.peek(b) === 'second');
  eager.set(b, null);
  await seen('the end of the picture', () => all.peek(b) === null);
});

test('work on each picture continues at its interval', async () => {
  const { pictures } = open();
  await using _ = pictures;
  await pictures.of(a);
  await pictures.of(b);
  const worked: string[] = [];
  await using _loop = pictures.attend('work', 1, async (id, picture) => {
    worked.push(`${id} ${picture}`);
  });
  await seen('two rounds', () => worked.length >= 4);
  assert.deepEqual(worked.slice(0, 4), [
    'org_a first',
    'org_b second',
    'org_a first',
    'org_b second',
  ]);
});
