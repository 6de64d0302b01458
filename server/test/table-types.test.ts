/**
 * Compares the table types (`tables.ts`) with the migrated database: the same tables and columns,
 * the same kinds of values, `null` where the database allows it, and optional in inserts only where
 * there is a default.
 */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import { features } from '../src/app/features.ts';
import { contentColumns } from '../src/features/analytics/projections/engagement/contribution.ts';
import { openTestDatabase } from './database.ts';

type Kind = 'number' | 'boolean' | 'text' | 'bytes' | 'time' | 'json' | 'date';
type Column = {
  kinds: readonly Kind[];
  isArray: boolean;
  isNullable: boolean;
  isOptional: boolean;
};

const src = fileURLToPath(new URL('../src/', import.meta.url));

/** Kinds of values by PostgreSQL type. */
const kindsOfDatabase: Readonly<Record<string, Kind>> = {
  smallint: 'number',
  integer: 'number',
  bigint: 'number',
  real: 'number',
  'double precision': 'number',
  boolean: 'boolean',
  text: 'text',
  uuid: 'text',
  xid8: 'text',
  tsvector: 'text',
  bytea: 'bytes',
  'timestamp with time zone': 'time',
  date: 'date',
  json: 'json',
  jsonb: 'json',
};

/** Kinds of values by TypeScript type. A day is read as text and can be written as a Date. */
const kindsOfTypes: Readonly<Record<string, readonly Kind[]>> = {
  number: ['number'],
  boolean: ['boolean'],
  string: ['text', 'date'],
  Buffer: ['bytes'],
  Date: ['time', 'date'],
  unknown: ['json'],
};

/** Lists of columns from which `Record<(typeof list)[number], …>` makes members. */
const listsOfColumns: Readonly<Record<string, readonly string[]>> = { contentColumns };

const { db } = await openTestDatabase();
const typed = readTypes();

test('every table in the types, and every one declared by a feature, is in the database', async () => {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class
    where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p')`.execute(db);
  const existing = new Set(rows.map(({ name }) => name));
  const named = [...typed.keys(), ...features.list.flatMap(({ tables }) => tables)];
  assert.deepEqual(
    named.filter((table) => !existing.has(table)),
    [],
  );
});

test('each table has the columns of its type, of the same kinds', async () => {
  const { rows } = await sql<{
    table: string;
    column: string;
    type: string;
    isRequired: boolean;
    hasDefault: boolean;
  }>`
    select relname as table, attname as column, format_type(atttypid, null) as type,
      attnotnull as "isRequired",
      atthasdef or attidentity <> '' as "hasDefault"
    from pg_attribute join pg_class on pg_class.oid = attrelid
    where relnamespace = current_schema()::regnamespace and attnum > 0 and not attisdropped
      and relname = any(${[...typed.keys()]}::text[])`.execute(db);
  const problems: string[] = [];
  const found = new Set<string>();
  for (const { table, column, type, isRequired, hasDefault } of rows) {
    const name = `${table}.${column}`;
    found.add(name);
    const expected = typed.get(table)?.get(column);
    if (expected === undefined) {
      problems.push(`${name} is missing in the type`);
      continue;
    }
    const isArray = type.endsWith('[]');
    const kind = kindsOfDatabase[type.replace('[]', '')];
    assert.ok(kind !== undefined, `this test does not know ${type} (${name})`);
    const isJson = kind === 'json' && expected.kinds.includes('json');
    if (!expected.kinds.includes(kind) || (isArray !== expected.isArray && !isJson)) {
      problems.push(`${name} is ${type}, the type has ${expected.kinds.join(' or ')}`);
    }
    if (!isJson && expected.isNullable === isRequired) {
      problems.push(`${name} is ${isRequired ? 'never' : 'sometimes'} null, unlike its type`);
    }
    if (expected.isOptional && isRequired && !hasDefault) {
      problems.push(`${name} has no default, and the type lets an insert leave it out`);
    }
  }
  for (const [table, columns] of typed) {
    for (const column of columns.keys()) {
      if (!found.has(`${table}.${column}`)) problems.push(`${table}.${column} does not exist`);
    }
  }
  assert.deepEqual(problems, []);
});

/** The columns of each table, from the source of the types. */
function readTypes(): Map<string, Map<string, Column>> {
  const tables = new Map<string, Map<string, Column>>();
  for (const file of globSync('**/tables.ts', { cwd: src })) {
    const text = readFileSync(src + file, 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, '');
    const [, members = ''] = /interface Tables \{([^}]*)\}/.exec(text) ?? [];
    for (const [, table = '', name = ''] of members.matchAll(/(\w+): (\w+);/g)) {
      const body = readBody(text, name);
      assert.ok(body !== null, `${file} has no type ${name}`);
      const columns = body.matchAll(/(\w+): ([^;]+)(?:;|$)/g);
      tables.set(
        table,
        new Map(Array.from(columns, ([, column = '', type = '']) => [column, readType(type)])),
      );
    }
  }
  return tables;
}

/** The members of an object type, including those of the type that it extends. */
function readBody(text: string, name: string): string | null {
  const listed = new RegExp(`type ${name} = Record<\\(typeof (\\w+)\\)\\[number\\], (.*)>;`).exec(
    text,
  );
  if (listed !== null) {
    const [, list = '', type] = listed;
    return listsOfColumns[list]?.map((column) => `${column}: ${type};`).join('') ?? null;
  }
  const match = new RegExp(`type ${name} = (?:(\\w+) & )?\\{([^}]*)\\};`).exec(text);
  if (match === null) return null;
  const [, base, own = ''] = match;
  return base === undefined ? own : `${readBody(text, base) ?? ''}${own}`;
}

function readType(text: string): Column {
  const type = text.replaceAll(/\s+/g, ' ').trim();
  const [, wrapper, inner = ''] = /^(\w+)<(.*)>$/.exec(type) ?? [];
  const [selected = '', inserted = ''] = splitArguments(inner);
  if (wrapper === 'Generated') return { ...readType(inner), isOptional: true };
  if (wrapper === 'ColumnType') {
    const isOptional = inserted === 'never' || inserted.includes('undefined');
    return { ...readType(selected), isOptional };
  }
  const json = { kinds: ['json'], isArray: false, isNullable: false, isOptional: false } as const;
  if (wrapper === 'Json' || wrapper === 'Record') return json;
  if (wrapper === 'NullableJson') return { ...json, isNullable: true };
  if (type.endsWith('Timestamp')) {
    const isNullable = type === 'NullableTimestamp';
    const isOptional = isNullable || type === 'DefaultTimestamp';
    return { kinds: ['time', 'date'], isArray: false, isNullable, isOptional };
  }
  const parts = type.split(' | ');
  const [main = ''] = parts.filter((part) => part !== 'null');
  const name = main.replace(/\[\]$/, '');
  return {
    // A type name refers to a union of strings or a JSON shape.
    kinds: kindsOfTypes[name] ?? ['text', 'json'],
    isArray: main.endsWith('[]'),
    isNullable: parts.includes('null'),
    isOptional: false,
  };
}

/** Splits type arguments at commas outside brackets. */
function splitArguments(text: string): string[] {
  const parts = [''];
  let depth = 0;
  for (const character of text) {
    if ('<({['.includes(character)) depth += 1;
    if ('>)}]'.includes(character)) depth -= 1;
    if (character === ',' && depth === 0) parts.push('');
    else parts[parts.length - 1] += character;
  }
  return parts.map((part) => part.trim());
}
