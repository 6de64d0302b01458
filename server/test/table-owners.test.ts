/** Proves that only the owner of a table has SQL on it, and that the check sees every form of it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { parseSync } from 'oxc-parser';
import { features } from '../src/app/features.ts';
import { featureOf, readSources, readSqlFiles } from './boundaries/sources.ts';
import { tablesInSource, tablesInSql } from './boundaries/tables-in-sql.ts';
import { openTestDatabase } from './database.ts';

const { db } = await openTestDatabase();
/** Owners by table: the name of a feature, or the platform. */
const owners = await readOwners();
const tables = new Set(owners.keys());

test('a feature has SQL on its own tables alone, and the platform on none of a feature', () => {
  const named = [
    ...readSources().map(({ file, parsed }) => ({
      file,
      used: tablesInSource(parsed.program, tables),
    })),
    ...readSqlFiles().map(({ file, text }) => ({ file, used: tablesInSql(text, tables) })),
  ];
  const broken = named
    .filter(({ file }) => /^(?:features|platform)\//.test(file))
    .flatMap(({ file, used }) =>
      used
        .filter((table) => owners.get(table) !== (featureOf(file) ?? 'platform'))
        .map((table) => `${file}: ${table}`),
    );
  assert.deepEqual([...new Set(broken)].toSorted(), debts);
});

test('the check detects a foreign table in every form', () => {
  const known = new Set(['content', 'job']);
  const planted: Record<string, string> = {
    'delete using': 'sql`delete from own using content where content.id = own.id`',
    'comma join': 'sql`select own.id from own, content where content.id = own.id`',
    'comma after a join': 'sql`select from own join mine on own.id = mine.id, content c`',
    quoted: 'sql`select id from "content"`',
    'schema-qualified': 'sql`select id from public.content`',
    'both quoted': 'sql`select id from "public"."content"`',
    CTE: 'sql<{ id: string }>`with found as (select id from content) select id from found`',
    'insert from select': 'sql`insert into own (id) select id from CONTENT`',
    merge: 'sql`merge into own using (select id from only content) c on c.id = own.id`',
    'merge into': 'sql`merge into content c using own on c.id = own.id when matched then delete`',
    'a fragment': 'const rows = sql`content item`;',
    'a comment between': 'sql`select id from /* all */ content -- of them\n`',
    'a name as a value': 'sql`select id from ${sql.table("content")}`',
    'a string': 'client.query("truncate own, content")',
    'a template': 'client.query(`lock table content in ${mode} mode`)',
    Kysely: "db.selectFrom('content as c').select('id')",
    'a subquery in Kysely': "db.selectFrom((eb) => eb.selectFrom('content').select('id').as('c'))",
    'a list in Kysely': "db.selectFrom(['own', 'content as c'])",
    'a join in Kysely': "db.selectFrom('own').innerJoin('content', 'content.id', 'own.id')",
    'delete using in Kysely': "db.deleteFrom('own').using('content')",
    'a schema in Kysely': "db.updateTable('public.content')",
    'a table of the platform': 'sql`select from own join job on true`',
  };
  for (const [form, source] of Object.entries(planted)) {
    const { program } = parseSync('planted.ts', source);
    assert.equal(new Set(tablesInSource(program, known)).size, 1, form);
  }
});

test('the check does not mistake columns, aliases, comments or strings for tables', () => {
  const known = new Set(['content', 'job']);
  const innocent = [
    'sql`select content, job from own where own.content = 1 order by content`',
    "sql`select 'from content' from own -- from job\n`",
    'sql`select content.id from ${contentItems} content`',
    'sql`insert into own (content, job) values (1, 2) returning id, content`',
    "Buffer.concat([Buffer.alloc(1)]); audit('content'); db.selectFrom('own').select('content')",
  ];
  for (const source of innocent) {
    assert.deepEqual(tablesInSource(parseSync('innocent.ts', source).program, known), [], source);
  }
});

const debts: readonly string[] = [];

async function readOwners(): Promise<Map<string, string>> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class
    where relnamespace = current_schema()::regnamespace and not relispartition
      and relkind in ('r', 'p', 'm', 'f')`.execute(db);
  const byFeature = features.list.flatMap(({ name, tables }) =>
    tables.map((table) => [table, name] as const),
  );
  return new Map([...rows.map(({ name }) => [name, 'platform'] as const), ...byFeature]);
}
