/** Proves that walking over an organization's own blocks, as an erasure does, takes linear time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { openTestDatabase } from '../../../../test/database.ts';
import { dayMs } from '../../values/time.ts';
import { encodeBlock } from '../block-codec.ts';
import { sample } from '../conformance-parts.ts';
import { logUnderTest } from '../../../../test/event-log/postgres-log.ts';

const database = await openTestDatabase();
const { db } = database;
const { pagesRead } = logUnderTest(database);
const days = 10;
const today = Math.floor(Date.now() / dayMs) * dayMs;
const bytes = await encodeBlock([sample()]);

for (let day = 1; day <= days; day += 1) {
  const date = new Date(today - day * dayMs).toISOString().slice(0, 10);
  await sql`select create_day_partition('event_block', 'received_at', ${date}::date)`.execute(db);
}

/** Refills the log, interleaved with as many blocks of another organization. */
async function fill(organizationId: string, count: number): Promise<void> {
  await sql`truncate event_block`.execute(db);
  for (let day = days; day >= 1; day -= 1) {
    await sql`
      insert into event_block (organization_id, event_count, duplicates, events, received_at)
      select unnest(array[${organizationId}, 'org_m']), 1, '{}', ${bytes},
        to_timestamp(${(today - day * dayMs) / 1000}::float8 + n)
      from generate_series(1, ${count / days}::int) n`.execute(db);
  }
  // The planner needs accurate statistics of the organization, because these led to the bad plan.
  await sql`vacuum analyze event_block`.execute(db);
}

async function pagesOfWalk(organizationId: string, expected: number): Promise<number> {
  return pagesRead(async (log) => {
    let [from, read] = [log.start, 0];
    for (;;) {
      const limits = { organizationId, limitBlocks: blocksOfPage, limitEvents: 20_000 };
      const page = await log.rewrite(from, limits, () => null);
      read += page.blocksRead;
      if (page.isLast) break;
      from = page.next;
    }
    assert.equal(read, expected);
  });
}

const count = 8_000;
const blocksOfPage = 100;
/**
 * Reads each day's index and the rows of the page. It would be 247 if each page read all blocks
 * after it.
 */
const maxPages = 60;

for (const organizationId of ['org_a', 'org_z']) {
  test(`a page of the log of ${organizationId} costs the same, however many blocks are behind it`, async () => {
    await fill(organizationId, count);
    // Statistics of other sessions arrive late and can only increase a measurement.
    const measured = [];
    for (let turn = 0; turn < 3; turn += 1) {
      measured.push(await pagesOfWalk(organizationId, count));
    }
    const pages = Math.min(...measured);
    const perPage = pages / (count / blocksOfPage);
    assert.ok(perPage <= maxPages, `${perPage} pages of storage for ${blocksOfPage} blocks`);
  });
}
