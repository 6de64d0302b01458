/** Proves that the declarations of all features fit together, and that each table has one owner. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { openTestDatabase } from '../../test/database.ts';
import { platformSettings } from '../platform/settings/config.ts';
import { webhookEvents } from '../features/webhooks/webhooks.ts';
import { errorCodes, extensionsOf } from './composition.ts';
import { features } from './features.ts';

/** Tables that belong to a folder of the platform rather than to a feature. */
const platformTables = [
  'encryption_check',
  'event_block',
  'event_block_joining',
  'event_key_a',
  'event_key_b',
  'event_key_generation',
  'event_stream',
  'event_stream_garbage',
  'idempotent_request',
  'job',
  'job_turn',
  'lease',
  'projection',
  'schema_function',
  'schema_migration',
  'signing_key',
];

function repeated(names: readonly string[]): string[] {
  return names.filter((name, index) => names.indexOf(name) !== index);
}

test('no two features have the same name, setting, variable, error code, path or webhook event', () => {
  const tables = [platformSettings, ...features.list.map(({ settings }) => settings)];
  const settings = tables.flatMap((table) => Object.entries(table));
  assert.deepEqual(repeated(features.list.map(({ name }) => name)), []);
  assert.deepEqual(repeated(settings.map(([name]) => name)), []);
  assert.deepEqual(repeated(settings.map(([, { env }]) => env)), []);
  assert.deepEqual(repeated(errorCodes(features.list)), []);
  assert.deepEqual(repeated(features.list.flatMap(({ areas }) => Object.keys(areas))), []);
  const events = extensionsOf(features.list)(webhookEvents);
  assert.deepEqual(repeated(events.flatMap((table) => Object.keys(table))), []);
});

test('every table of the database has one owner, and every declared table exists', async () => {
  const { db } = await openTestDatabase();
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
  `.execute(db);
  const declared = [...platformTables, ...features.list.flatMap(({ tables }) => tables)];
  assert.deepEqual(repeated(declared), []);
  assert.deepEqual(
    declared.toSorted(),
    rows.map(({ name }) => name).toSorted(),
    'name each table in the `tables` of its feature.ts',
  );
});
