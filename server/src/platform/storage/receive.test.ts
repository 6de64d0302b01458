import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { InvalidKeyError, FileTooLargeError, StorageFullError } from './storage-errors.ts';
import { Scratch } from './scratch.ts';
import { until } from '../../../test/waiting.ts';

async function openArea(t: TestContext): Promise<{ area: Scratch; root: string }> {
  const root = await mkdtemp(path.join(tmpdir(), 'work-'));
  t.after(() => rm(root, { recursive: true, force: true }));
  return { area: new Scratch(root), root };
}

async function* chunks(...parts: (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield Buffer.from(part);
}

test('a stream becomes a file with its size and SHA-256', async (t) => {
  const { area, root } = await openArea(t);
  const bytes = randomBytes(300_000);
  const parts = chunks(bytes.subarray(0, 10), bytes.subarray(10, 5_000), bytes.subarray(5_000));
  {
    await using file = await area.receive(parts, { maxBytes: 300_000, declaredBytes: 300_000 });
    assert.equal(file.sizeBytes, 300_000);
    assert.equal(file.sha256, createHash('sha256').update(bytes).digest('hex'));
    assert.deepEqual(await readFile(file.path), bytes);
  }
  assert.deepEqual(await readdir(root), [], 'disposing removes a file that was not moved away');
});

test('chunks of the receiver are freed once they are copied, and shared memory is not', async (t) => {
  const { area } = await openArea(t);
  const bytes = randomBytes(700_000);
  const own = Array.from({ length: 7 }, (_, at) =>
    Uint8Array.from(bytes.subarray(at * 100_000, (at + 1) * 100_000)),
  );
  const options = { maxBytes: 1e6, ownsChunks: true };
  await using file = await area.receive(chunksOf(own), options);
  assert.deepEqual(await readFile(file.path), bytes);
  assert.deepEqual(
    own.map(({ buffer }) => buffer.byteLength),
    own.map(() => 0),
  );
  const shared = Uint8Array.from(bytes);
  await using part = await area.receive(chunksOf([shared.subarray(1)]), options);
  assert.equal(part.sizeBytes, 699_999);
  assert.equal(shared.length, 700_000);
});

async function* chunksOf(parts: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* parts;
}

test('the head is seen before the first byte is written, however it is cut', async (t) => {
  const { area, root } = await openArea(t);
  const cases = [
    { parts: ['ab', 'cd', 'efgh', 'ij'], head: 'abcd' },
    { parts: ['abcdefghij'], head: 'abcd' },
    { parts: ['ab'], head: 'ab' },
    { parts: [], head: '' },
  ];
  for (const { parts, head } of cases) {
    const seen: string[] = [];
    const onFirstBytes = async (bytes: Buffer): Promise<void> => {
      seen.push(bytes.toString());
      const [name = ''] = await readdir(root);
      assert.equal((await readFile(path.join(root, name))).length, 0);
    };
    const options = { maxBytes: 100, headBytes: 4, onFirstBytes };
    await using file = await area.receive(chunks(...parts), options);
    assert.deepEqual(seen, [head]);
    assert.equal((await readFile(file.path)).toString(), parts.join(''));
  }
});

test('a refused head, a broken source and a size over the limit leave no file', async (t) => {
  const { area, root } = await openArea(t);
  const refuse = (): void => {
    throw new Error('no media');
  };
  const source = chunks('not a video');
  await assert.rejects(area.receive(source, { maxBytes: 100, onFirstBytes: refuse }), {
    message: 'no media',
  });
  const broken = async function* (): AsyncGenerator<Uint8Array> {
    yield Buffer.alloc(10_000);
    throw new Error('connection reset');
  };
  await assert.rejects(area.receive(broken(), { maxBytes: 1e6 }), { message: 'connection reset' });
  await assert.rejects(area.receive(chunks('1234', '5'), { maxBytes: 4 }), FileTooLargeError);
  await using exact = await area.receive(chunks('1234'), { maxBytes: 4 });
  assert.deepEqual(await readdir(root), [path.basename(exact.path)]);
});

test('a declared size that cannot fit is rejected before the source is read', async (t) => {
  const { area, root } = await openArea(t);
  const untouched = (): AsyncIterable<Uint8Array> => ({
    [Symbol.asyncIterator]: () => assert.fail('the source was read'),
  });
  const free = await area.freeBytes();
  assert.ok(free > 0);
  await assert.rejects(
    area.receive(untouched(), { maxBytes: 5, declaredBytes: 6 }),
    FileTooLargeError,
  );
  await assert.rejects(
    area.receive(untouched(), { maxBytes: free * 4, declaredBytes: free * 2 }),
    StorageFullError,
  );
  await assert.rejects(
    area.receive(untouched(), { maxBytes: 5, minFreeBytes: free * 2 }),
    StorageFullError,
  );
  assert.deepEqual(await readdir(root), []);
});

test('an abort ends the wait for a silent sender and removes the part that came', async (t) => {
  const { area, root } = await openArea(t);
  const silent = async function* (): AsyncGenerator<Uint8Array> {
    yield Buffer.alloc(10_000);
    await new Promise(() => undefined);
  };
  const controller = new AbortController();
  const receiving = area.receive(silent(), { maxBytes: 1e6 }, controller.signal);
  await until(
    'the part',
    () => readdir(root),
    ({ length }) => length === 1,
  );
  controller.abort(new Error('shutting down'));
  await assert.rejects(receiving, { message: 'shutting down' });
  assert.deepEqual(await readdir(root), []);
});

test('a server can still answer after it refused the body of a request', async (t) => {
  const { area } = await openArea(t);
  const server = createServer((incoming, response) => {
    area.receive(incoming, { maxBytes: 1_000 }).then(
      () => response.writeHead(201).end(),
      () => response.writeHead(413, { connection: 'close' }).end(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  const status = await new Promise((resolve, reject) => {
    const outgoing = request({ port: address.port, host: '127.0.0.1', method: 'PUT' });
    outgoing.on('response', (response) => resolve(response.resume().statusCode));
    outgoing.on('error', reject);
    outgoing.write(Buffer.alloc(5_000));
  });
  assert.equal(status, 413);
});

test('memory stays flat and a fast source waits for the disk', async (t) => {
  const { area } = await openArea(t);
  const chunk = Buffer.alloc(64 * 1_024, 7);
  const total = 96 * 2 ** 20;
  let asked = 0;
  let highestBytes = 0;
  const fast = async function* (): AsyncGenerator<Uint8Array> {
    for (; asked < total; asked += chunk.length) {
      highestBytes = Math.max(highestBytes, process.memoryUsage.rss());
      yield chunk;
    }
  };
  const before = process.memoryUsage.rss();
  await using file = await area.receive(fast(), { maxBytes: total });
  assert.equal(file.sizeBytes, total);
  assert.ok(highestBytes - before < 40 * 2 ** 20, `grew by ${highestBytes - before} bytes`);
});

test('names of work folders are checked like keys', async (t) => {
  const { area } = await openArea(t);
  for (const name of ['', '..', 'a/b', '../x', '.x']) {
    await assert.rejects(area.createFolder(name), InvalidKeyError);
  }
  await using folder = await area.createFolder('process');
  assert.match(path.basename(folder.path), /^process-/);
});
