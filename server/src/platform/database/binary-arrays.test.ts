/** Proves that PostgreSQL reads back what is written as a binary array. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { sql, type RawBuilder } from 'kysely';
import { openTestDatabase } from '../../../test/database.ts';
import {
  byteaArray,
  bytesArray,
  dateArray,
  filledUuidArray,
  int8Array,
  textArray,
  timestampArray,
  uuidArray,
} from './binary-arrays.ts';

const { db } = await openTestDatabase();

/** The elements of an array as PostgreSQL prints them, in order. */
async function printed(array: RawBuilder<unknown>): Promise<string[]> {
  const { rows } = await sql<{ value: string }>`
    select value::text from unnest(${array}) with ordinality as given (value, place)
    order by place`.execute(db);
  return rows.map(({ value }) => value);
}

const uuids = Array.from({ length: 100 }, () => randomUUID());

test('uuids, given as text or filled in any order', async () => {
  assert.deepEqual(await printed(sql`${uuidArray(uuids)}::uuid[]`), uuids);
  const filled = filledUuidArray(uuids.length, (bytes, offsetOf) => {
    for (const [index, uuid] of [...uuids.entries()].toReversed()) {
      bytes.write(uuid.replaceAll('-', ''), offsetOf(index), 'hex');
    }
  });
  assert.deepEqual(await printed(sql`${filled}::uuid[]`), uuids);
});

test('bytes of one size and of any size', async () => {
  const fixed = byteaArray(3, 2, (index, bytes, at) => bytes.writeUInt16BE(index + 0xff00, at));
  assert.deepEqual(await printed(sql`${fixed}::bytea[]`), ['\\xff00', '\\xff01', '\\xff02']);
  const any = bytesArray([Buffer.from('ff', 'hex'), Buffer.alloc(0), Buffer.alloc(3, 7)]);
  assert.deepEqual(await printed(sql`${any}::bytea[]`), ['\\xff', '\\x', '\\x070707']);
});

test('texts of any letters', async () => {
  const texts = ['', 'plain', '{"a,b"}', '\\', 'NULL', 'größer', '🎬'];
  assert.deepEqual(await printed(sql`${textArray(texts)}::text[]`), texts);
});

test('whole numbers up to those that a double holds', async () => {
  const numbers = [0, 1, -1, 2 ** 32, -(2 ** 32) - 1, Number.MAX_SAFE_INTEGER, -(2 ** 53) + 1];
  assert.deepEqual(await printed(sql`${int8Array(numbers)}::int8[]`), numbers.map(String));
});

test('times and days before and after 2000', async () => {
  const days = ['1969-12-31', '1970-01-01', '1999-12-31', '2000-01-01', '2024-02-29', '9998-12-31'];
  const beginnings = days.map((day) => Date.parse(day));
  assert.deepEqual(await printed(sql`${dateArray(beginnings)}::date[]`), days);
  const moments = beginnings.map((ms) => ms + 12_345_678);
  const { rows } = await sql<{ moment: Date }>`
    select moment from unnest(${timestampArray(moments)}::timestamptz[]) with ordinality
      as given (moment, place) order by place`.execute(db);
  assert.deepEqual(
    rows.map(({ moment }) => moment.getTime()),
    moments,
  );
});

test('arrays without elements', async () => {
  assert.deepEqual(await printed(sql`${uuidArray([])}::uuid[]`), []);
  assert.deepEqual(await printed(sql`${filledUuidArray(0, () => undefined)}::uuid[]`), []);
  assert.deepEqual(await printed(sql`${bytesArray([])}::bytea[]`), []);
  assert.deepEqual(await printed(sql`${textArray([])}::text[]`), []);
});
