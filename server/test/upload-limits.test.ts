/** Proves the limits of an upload: its size, its duration, its one-time URL, its keys. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { form, local, sampleBytes } from './media.ts';
import { sendRaw } from './raw-http.ts';
import { createItem, query } from './seed.ts';
import { eventually, send, startService, type Reply } from './service.ts';
import { assertNothingLeft, storedFiles } from './stored-files.ts';

const maxBytes = 300_000;
// Without the role `media`, nothing is processed: these tests are about incoming bytes.
const service = await startService({
  REELFEED_ROLES: 'api,worker',
  REELFEED_MAX_UPLOAD_BYTES: String(maxBytes),
  REELFEED_UPLOAD_SILENCE: '2s',
});
const clip = await sampleBytes('small.mp4');
assert.ok(clip.length < maxBytes);

const get = (id: string) => service.call('GET', `/v1/content/${id}`);
const put = (uploadUrl: string, body: Buffer | string, headers: Record<string, string> = {}) =>
  send(local(service, uploadUrl), 'PUT', { body, headers });
const postForm = (fields: [string, string | Buffer][]) =>
  service.call('POST', '/v1/content/upload', { body: form(fields) });

function assertCode(reply: Reply, status: number, code: string, what = ''): void {
  assert.equal(reply.status, status, `${what} ${reply.text}`);
  assert.equal(reply.body.error.code, code, what);
}

test('JSON on the upload route is limited to a megabyte, as everywhere', async () => {
  const reply = await service.call('POST', '/v1/content/upload', {
    body: { title: 'a', description: 'b'.repeat(1024 * 1024) },
  });
  assertCode(reply, 413, 'PAYLOAD_TOO_LARGE');
});

test('the size limit holds for both ways, declared or not, to the byte', async () => {
  const exact = Buffer.concat([clip, Buffer.alloc(maxBytes - clip.length)]);
  const over = Buffer.concat([exact, Buffer.alloc(1)]);
  const { uploadUrl } = await createItem(service);
  const pathname = new URL(uploadUrl).pathname;
  await assertNothingLeft(service, async () => {
    assertCode(await put(uploadUrl, over), 413, 'PAYLOAD_TOO_LARGE');
    const declared = await sendRaw(
      service.url,
      [`PUT ${pathname} HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n`],
      { answers: 1 },
    );
    assert.deepEqual(declared.statuses, [413], 'before a byte is sent');
    const chunked = await sendRaw(
      service.url,
      [
        `PUT ${pathname} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n` +
          `${over.length.toString(16)}\r\n`,
        over,
        '\r\n0\r\n\r\n',
      ],
      { answers: 1 },
    );
    assert.deepEqual(chunked.statuses, [413]);
    assertCode(
      await postForm([
        ['title', 'a'],
        ['file', over],
      ]),
      413,
      'PAYLOAD_TOO_LARGE',
    );
  });
  assert.equal((await put(uploadUrl, exact)).status, 200);
});

test('an interrupted upload leaves no file, and its URL remains valid', async () => {
  const { id, uploadUrl } = await createItem(service);
  const pathname = new URL(uploadUrl).pathname;
  const boundary = 'b';
  const part = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n`;
  await assertNothingLeft(service, async () => {
    await sendRaw(
      service.url,
      [
        `PUT ${pathname} HTTP/1.1\r\nHost: x\r\nContent-Length: ${clip.length}\r\n\r\n`,
        clip.subarray(0, clip.length - 1),
      ],
      { timeoutMs: 200 },
    );
    await sendRaw(
      service.url,
      [
        `POST /v1/content/upload HTTP/1.1\r\nHost: x\r\nContent-Length: ${clip.length + 500}\r\n` +
          `Authorization: Bearer ${service.secretKey}\r\n` +
          `Content-Type: multipart/form-data; boundary=${boundary}\r\n\r\n${part}`,
        clip.subarray(0, clip.length - 1),
      ],
      { timeoutMs: 200 },
    );
  });
  assert.equal((await get(id)).body.data.uploadStatus, 'pending');
  assert.equal((await put(uploadUrl, clip)).status, 200);
});

test('a silent or slow sender gets 408 in every phase, and leaves no file', async () => {
  const { uploadUrl } = await createItem(service);
  const size = `Content-Length: ${clip.length + 10_000}`;
  const head = (target: string, ...headers: string[]) =>
    [`${target} HTTP/1.1`, 'Host: x', size, ...headers, '', ''].join('\r\n');
  const putHead = head(`PUT ${new URL(uploadUrl).pathname}`);
  const formHead = head(
    'POST /v1/content/upload',
    `Authorization: Bearer ${service.secretKey}`,
    'Content-Type: multipart/form-data; boundary=b',
  );
  const filePart = '--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n';
  const drip = Array.from({ length: 120 }, () => ['x', 50]).flat();
  await assertNothingLeft(service, async () => {
    const answers = await Promise.all(
      [
        [putHead],
        [putHead, clip.subarray(0, 9_000)],
        [putHead, clip.subarray(0, 9_000), ...drip],
        [formHead],
        [formHead, '--b\r\nContent-Disposition: form-data; name="title"\r\n\r\na', ...drip],
        [formHead, filePart, clip.subarray(0, 9_000)],
        [
          formHead,
          filePart,
          clip,
          '\r\n--b\r\nContent-Disposition: form-data; name="title"\r\n\r\n',
        ],
      ].map((pieces) => sendRaw(service.url, pieces, { timeoutMs: 20_000 })),
    );
    for (const [index, answer] of answers.entries()) {
      assert.deepEqual(answer.statuses, [408], `case ${index}: ${answer.text}`);
      assert.equal(answer.closed, true, `case ${index} is closed`);
      assert.equal(answer.body.error.code, 'REQUEST_TIMEOUT');
    }
  });
  assert.equal((await put(uploadUrl, clip)).status, 200);
});

test('bytes are accepted once: a second PUT is 409, and one of many concurrent ones wins', async () => {
  const { id, uploadUrl } = await createItem(service);
  const other = Buffer.concat([clip, Buffer.alloc(8)]);
  const before = (await storedFiles(service, 'objects')).length;
  const replies = await Promise.all(
    Array.from({ length: 8 }, (_, index) => put(uploadUrl, index % 2 === 0 ? clip : other)),
  );
  assert.equal(replies.filter(({ status }) => status === 200).length, 1);
  for (const reply of replies.filter(({ status }) => status !== 200)) {
    assertCode(reply, 409, 'CONFLICT');
  }
  assertCode(await put(uploadUrl, clip), 409, 'CONFLICT');
  assert.equal((await storedFiles(service, 'objects')).length, before + 1);
  const [row] = await query(
    service,
    `select count(*)::int as n from job where payload->>'contentId' = $1`,
    [id],
  );
  assert.equal(row?.['n'], 1, 'processed once');
});

test('an unknown, mangled or expired URL is 404 before a byte is read', async () => {
  const { id, uploadUrl } = await createItem(service);
  const { pathname } = new URL(uploadUrl);
  const tokens = [
    `${pathname}x`,
    pathname.slice(0, -1),
    '/v1/uploads/x',
    `/v1/uploads/${'a'.repeat(200)}`,
  ];
  for (const target of tokens) {
    const answer = await sendRaw(
      service.url,
      [`PUT ${target} HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n`],
      { answers: 1 },
    );
    assert.deepEqual(answer.statuses, [404], target);
  }
  await query(
    service,
    `update upload_session set expires_at = now() - interval '1 second' where content_id = $1`,
    [id],
  );
  assertCode(await put(uploadUrl, clip), 404, 'NOT_FOUND');
  const { id: archivedId, uploadUrl: archivedUrl } = await createItem(service);
  await service.call('DELETE', `/v1/content/${archivedId}`);
  assertCode(await put(archivedUrl, clip), 404, 'NOT_FOUND');
  await service.call('POST', `/v1/content/${archivedId}/restore`);
  assert.equal((await put(archivedUrl, clip)).status, 200);
});

test('keys are checked before the body is read, and publishable ones may not upload', async () => {
  const ask = (key: string) =>
    sendRaw(
      service.url,
      [
        `POST /v1/content/upload HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n` +
          `Authorization: Bearer ${key}\r\nContent-Type: multipart/form-data; boundary=b\r\n\r\n`,
      ],
      { answers: 1 },
    );
  assert.deepEqual((await ask(service.publishableKey)).statuses, [403]);
  assert.deepEqual((await ask('rf_sk_wrong')).statuses, [401]);
});

test('after a rejection the rest of the body is discarded, and the connection continues', async () => {
  const strict = await startService({ REELFEED_MIN_FREE_BYTES: '1000TB', REELFEED_ROLES: 'api' });
  const bytes = await sampleBytes('portrait.mp4');
  const { uploadUrl } = await createItem(strict);
  for (let round = 0; round < 4; round += 1) {
    const startedAt = performance.now();
    const byPut = await send(local(strict, uploadUrl), 'PUT', { body: bytes });
    assertCode(byPut, 507, 'INSUFFICIENT_STORAGE');
    const byForm = await strict.call('POST', '/v1/content/upload', {
      body: form([
        ['title', 'No room'],
        ['file', bytes],
      ]),
    });
    assertCode(byForm, 507, 'INSUFFICIENT_STORAGE');
    assert.ok(performance.now() - startedAt < 4_500, 'nobody waits for the time-out of 5 s');
  }
});

test('an upload that never arrives fails when its URL expires', async () => {
  const { id, uploadUrl } = await createItem(service);
  const { id: open } = await createItem(service);
  await query(
    service,
    `update upload_session set expires_at = now() - interval '1 second' where content_id = $1`,
    [id],
  );
  // A process checks for expired uploads as soon as it starts.
  await using worker = await startService({ REELFEED_ROLES: 'api,worker' }, { beside: service });
  const item = await eventually('the item to fail', async () => {
    const { body } = await worker.call('GET', `/v1/content/${id}`);
    return body.data.uploadStatus === 'error' ? body.data : null;
  });
  assert.equal(item.errorReason.code, 'SOURCE_UNREACHABLE');
  assertCode(await put(uploadUrl, clip), 404, 'NOT_FOUND');
  assertCode(await service.call('POST', `/v1/content/${id}/retry`), 409, 'CONFLICT');
  assert.equal((await get(open)).body.data.uploadStatus, 'pending');
});
