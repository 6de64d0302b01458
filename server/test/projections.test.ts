/** Rules for all projections of the service, regardless of the feature that defines them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { readConfig } from '../src/app/config.ts';
import { allProjections } from '../src/app/projections.ts';
import { openTestDatabase } from './database.ts';

const { db } = await openTestDatabase();
const projections = allProjections(readConfig({}));

type Column = { table_name: string; column_name: string; data_type: string };

/**
 * Columns that may identify viewers: ids by name, and bytes, which store viewers' keys and states.
 */
const isAboutViewers = ({ column_name: name, data_type: type }: Column) =>
  type === 'bytea' || /viewer_key|user|device_id|session_id|unit/.test(name);

async function columnsOf(tables: readonly string[]): Promise<Column[]> {
  const { rows } = await sql<Column>`
    select table_name, column_name, data_type from information_schema.columns
    where table_schema = current_schema() and table_name = any(${tables}::text[])
  `.execute(db);
  return rows;
}

test('a projection with tables about viewers can erase them', async () => {
  for (const { name, tables, eraseViewer } of projections) {
    const columns = await columnsOf(tables);
    assert.deepEqual(
      tables.filter((table) => !columns.some(({ table_name: found }) => found === table)),
      [],
      `${name} names tables that exist`,
    );
    const telling = columns.filter(isAboutViewers).map((one) => one.column_name);
    if (eraseViewer === 'no viewer data') {
      assert.deepEqual(telling, [], `${name} has viewer data, and no eraseViewer`);
    }
  }
});

test('a projection with tables about items can purge them', async () => {
  for (const { name, tables, purgeItems } of projections) {
    if (purgeItems !== 'no items') continue;
    const columns = await columnsOf(tables);
    const telling = columns.filter(({ column_name: column }) => column === 'content_id');
    assert.deepEqual(telling, [], `${name} has rows of items, and no purgeItems`);
  }
});

test('names and tables are unique: each table is written by one projection', () => {
  for (const values of [
    projections.map(({ name }) => name),
    projections.flatMap(({ tables }) => tables),
  ]) {
    assert.equal(new Set(values).size, values.length, values.join(' '));
  }
});
