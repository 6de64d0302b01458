/** Proves the numbered promises of `batch-writer.ts`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLog } from '../../../test/database.ts';
import { until } from '../../../test/waiting.ts';
import { BatchWriter, type BatchWriterOptions } from './batch-writer.ts';

const never = 3_600_000;
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));
const seen = (what: string, is: () => boolean) => until(what, is, Boolean);

/** A writer, the batches it has started, and a function that ends each of them. */
function open(options: Partial<BatchWriterOptions<number>> = {}) {
  const batches: (readonly number[])[] = [];
  const ends: PromiseWithResolvers<void>[] = [];
  const writer = new BatchWriter<number>({
    name: 'test',
    log: silentLog,
    onFailure: 'retry',
    lingerMs: never,
    maxBatch: 100,
    write(batch) {
      batches.push(batch);
      const end = Promise.withResolvers<void>();
      ends.push(end);
      return end.promise;
    },
    ...options,
  });
  const end = (index: number) => ends[index]?.resolve();
  return { writer, batches, ends, end };
}

test('a batch starts when enough is waiting, or after a while (1)', async () => {
  const many = open({ enough: 3 });
  for (const entry of [1, 2]) many.writer.add(entry);
  await nextTurn();
  assert.deepEqual([many.batches, many.writer.waitingSize], [[], 2]);
  many.writer.add(3);
  await nextTurn();
  assert.deepEqual([many.batches, many.writer.waitingSize], [[[1, 2, 3]], 0]);
  const few = open({ lingerMs: 5 });
  few.writer.add(1);
  await seen('the batch', () => few.batches.length === 1);
});

test('an idle writer may start at once, with all that was added in the turn (1)', async () => {
  const { writer, batches, end } = open({ startsIdle: true });
  for (const entry of [1, 2]) writer.add(entry);
  await nextTurn();
  writer.add(3);
  await nextTurn();
  assert.deepEqual(batches, [[1, 2]]);
  end(0);
  await seen('the next batch', () => batches.length === 2);
  assert.deepEqual(batches[1], [3]);
});

test('batches are bounded by size, and so is how many are under way (2)', async () => {
  const sizes = { sizeOf: (entry: number) => entry, maxBatch: 5, maxUnderWay: 2 };
  const { writer, batches, end } = open({ ...sizes, startsIdle: true, lingerMs: 0 });
  for (const entry of [4, 4, 1, 1, 9, 1]) writer.add(entry);
  await nextTurn();
  assert.deepEqual(batches, [
    [4, 4],
    [1, 1, 9],
  ]);
  assert.deepEqual([writer.underWay, writer.waitingSize], [2, 1]);
  end(1);
  await seen('the last batch', () => batches.length === 3);
  assert.deepEqual(batches[2], [1]);
});

test('a failed write is retried in the same order, or dropped (3)', async () => {
  const keeping = open({ lingerMs: 1, maxBatch: 2 });
  for (const entry of [1, 2, 3]) keeping.writer.add(entry);
  await seen('the first try', () => keeping.batches.length === 1);
  keeping.ends[0]?.reject(new Error('away'));
  await seen('the second try', () => keeping.batches.length === 2);
  keeping.end(1);
  await seen('the rest', () => keeping.batches.length === 3);
  assert.deepEqual(keeping.batches, [[1, 2], [1, 2], [3]]);
  const dropping = open({ lingerMs: 1, maxBatch: 2, onFailure: 'drop' });
  for (const entry of [1, 2, 3]) dropping.writer.add(entry);
  await seen('the first try', () => dropping.batches.length === 1);
  dropping.ends[0]?.reject(new Error('away'));
  await seen('the rest', () => dropping.batches.length === 2);
  assert.deepEqual(dropping.batches, [[1, 2], [3]]);
});

test('a flush waits for nothing but the writes, and fails with them', async () => {
  const { writer, batches, ends, end } = open();
  await writer.flush();
  writer.add(1);
  const flushed = writer.flush();
  assert.deepEqual(batches, [[1]]);
  writer.add(2);
  end(0);
  await seen('what came meanwhile', () => batches.length === 2);
  end(1);
  await flushed;
  writer.add(3);
  const failing = writer.flush();
  ends[2]?.reject(new Error('away'));
  await assert.rejects(failing, /away/);
  assert.equal(writer.waitingSize, 1);
  // The pause after the failure does not delay a flush.
  const again = writer.flush();
  end(3);
  await again;
  assert.deepEqual(batches, [[1], [2], [3], [3]]);
});

test('what is taken back is in no batch', async () => {
  const { writer, batches, end } = open({ enough: 4 });
  for (const entry of [1, 2, 3]) writer.add(entry);
  assert.deepEqual(writer.remove(new Set([2, 7])), [2]);
  assert.equal(writer.waitingSize, 2);
  const flushed = writer.flush();
  end(0);
  await flushed;
  assert.deepEqual(batches, [[1, 3]]);
});

test('disposing writes what waits (5)', async () => {
  const { writer, batches, end } = open();
  writer.add(1);
  const disposed = writer[Symbol.asyncDispose]();
  end(0);
  await disposed;
  assert.deepEqual(batches, [[1]]);
});
