/**
 * Names each private part of `pg` that a new version no longer has, before its absence causes
 * obscure failures.
 */
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { Client, Query } from 'pg';
import { atEnd, cloneDatabase } from '../../../../test/database.ts';
import { poolConnection } from '../database.ts';

const require = createRequire(import.meta.url);
const { version } = require('pg/package.json') as { version: string };

const client = new Client(poolConnection(await cloneDatabase()));
await client.connect();
atEnd(() => client.end());

function has(owner: unknown, name: string, type: string): string[] {
  const found = typeof (owner as Record<string, unknown> | undefined)?.[name];
  return found === type ? [] : [`${name} is ${found}, expected ${type}`];
}

test('this version of pg has the private parts that pipelining/ uses', () => {
  const query: unknown = new Query({ text: 'select 1' });
  const { connection } = client as unknown as { connection: Record<string, unknown> };
  const missing = [
    ...['handleRowDescription', 'handleDataRow', 'handleCommandComplete', 'handleReadyForQuery']
      .concat('handleError', 'submit')
      .flatMap((name) => has(query, name, 'function')),
    ...has(client, 'processID', 'number'),
    ...has(connection, 'parsedStatements', 'object'),
    ...has(connection, 'submittedNamedStatements', 'object'),
    ...has(connection, 'sync', 'function'),
    ...['cork', 'uncork', 'destroy'].flatMap((name) =>
      has(connection?.['stream'], name, 'function'),
    ),
  ];
  assert.deepEqual(
    missing,
    [],
    `pg ${version} has changed inside: adapt driver-internals.ts and round-trip.ts to it`,
  );
});

test('a query reports to its property `callback`, and a connection remembers what it prepared', async () => {
  const query = new Query({ text: 'select $1::int as one', values: [1], name: 'one' });
  const { promise, resolve, reject } = Promise.withResolvers<{ rows: unknown[] }>();
  Object.assign(query, {
    callback: (error: Error | null, result: { rows: unknown[] }) =>
      error === null ? resolve(result) : reject(error),
  });
  client.query(query);
  assert.deepEqual((await promise).rows, [{ one: 1 }]);
  const { connection } = client as unknown as {
    connection: { parsedStatements: Record<string, string> };
  };
  assert.equal(connection.parsedStatements['one'], 'select $1::int as one');
});

test('pg is pinned to one version', () => {
  const { dependencies } = require('../../../../package.json') as {
    dependencies: Record<string, string>;
  };
  assert.equal(dependencies['pg'], version);
});
