import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { sql, type KyselyPlugin } from 'kysely';
import { openTestDatabase, silentLog } from '../../../../test/database.ts';
import { eventually } from '../../../../test/service.ts';
import { openDatabase } from '../../../platform/database/database.ts';
import { newContentId, newTypeId, type OrganizationId } from '../../../platform/values/ids.ts';
import { ItemTotalsReader } from './item-totals.ts';

const database = await openTestDatabase();
let statements = 0;
const counting: KyselyPlugin = {
  transformQuery({ node }) {
    statements += 1;
    return node;
  },
  transformResult: ({ result }) => Promise.resolve(result),
};
const db = database.db.withPlugin(counting);
let now = 0;
const clock = () => now;

let organizationId: OrganizationId = newTypeId('org');
beforeEach(() => {
  organizationId = newTypeId('org');
  statements = 0;
});

async function count(contentId: string, plays: number, organization = organizationId) {
  await sql`
    insert into content_counter (organization_id, grain, period, content_id, plays)
    values (${organization}, 'total', 'epoch', ${contentId}, ${plays})
    on conflict (organization_id, grain, period, content_id) do update set plays = ${plays}
  `.execute(database.db);
  await sql`
    insert into reaction_counter (organization_id, content_id, likes)
    values (${organization}, ${contentId}, 1) on conflict do nothing`.execute(database.db);
}

const views = (totals: readonly { views: number }[]) => totals.map((one) => one.views);

describe('totals of items', () => {
  test('are those of the organization, in the order of the ids', async () => {
    const [a, b, c] = [newContentId(), newContentId(), newContentId()];
    await count(a, 3);
    await count(b, 5);
    await count(b, 700, newTypeId('org'));
    await sql`
      insert into content_counter (organization_id, grain, period, content_id, plays)
      values (${organizationId}, 'day', '2026-01-01', ${a}, 900)
    `.execute(database.db);
    const found = await new ItemTotalsReader(db, clock).read(organizationId, [c, b, a]);
    assert.deepEqual(found, [
      { views: 0, likes: 0, shares: 0, saves: 0 },
      { views: 5, likes: 1, shares: 0, saves: 0 },
      { views: 3, likes: 1, shares: 0, saves: 0 },
    ]);
  });

  test('read recently are not read again, and many pages share one statement', async () => {
    const reader = new ItemTotalsReader(db, clock);
    const ids = Array.from({ length: 60 }, () => newContentId());
    const pages = Array.from({ length: 200 }, (_, page) => ids.slice(page % 40, (page % 40) + 20));
    await Promise.all(pages.map((page) => reader.read(organizationId, page)));
    assert.equal(statements, 1);
    await Promise.all(pages.map((page) => reader.read(organizationId, page)));
    assert.equal(statements, 1);
  });

  test('are at most half a second old, and the same object until they change', async () => {
    const reader = new ItemTotalsReader(db, clock);
    const id = newContentId();
    await count(id, 1);
    const [first] = await reader.read(organizationId, [id]);
    now += 200;
    const [second] = await reader.read(organizationId, [id]);
    assert.equal(first, second);
    await count(id, 2);
    now += 500;
    assert.deepEqual(views(await reader.read(organizationId, [id])), [2]);
  });

  test('are refreshed in the background if a page has usable ones', async () => {
    const reader = new ItemTotalsReader(db, clock);
    const id = newContentId();
    await count(id, 1);
    await reader.read(organizationId, [id]);
    await count(id, 2);
    now += 200;
    assert.deepEqual(views(await reader.read(organizationId, [id])), [1]);
    await eventually('the refresh to be over', async () =>
      views(await reader.read(organizationId, [id]))[0] === 2 ? true : null,
    );
    assert.equal(statements, 2);
  });

  test('from seconds ago are used while the database is down; unknown ones are not shown as zeros', async () => {
    const own = openDatabase({ connection: database.connection, poolSize: 1, log: silentLog });
    const reader = new ItemTotalsReader(own.db, clock);
    const id = newContentId();
    await count(id, 4);
    await reader.read(organizationId, [id]);
    await own[Symbol.asyncDispose]();
    now += 500;
    assert.deepEqual(views(await reader.read(organizationId, [id])), [4]);
    await assert.rejects(reader.read(organizationId, [id, newContentId()]));
    now += 5_000;
    await assert.rejects(reader.read(organizationId, [id]));
  });
});
