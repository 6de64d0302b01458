/** Proves both ways of uploading: what is taken, what is refused, and that a refusal leaves nothing. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { form, local, sampleBytes } from './media.ts';
import { HOSTILE_NAMES } from './media-samples.ts';
import { sendRaw } from './raw-http.ts';
import { createItem, createOrganization, query } from './seed.ts';
import { eventually, send, startService, type Reply } from './service.ts';

const mostBytes = 300_000;
// Without the role `media` nothing is processed: these tests are about the bytes on their way in.
const service = await startService({
  REELFEED_ROLES: 'api,worker',
  REELFEED_MAX_UPLOAD_BYTES: String(mostBytes),
  REELFEED_UPLOAD_SILENCE: '700ms',
});
const clip = await sampleBytes('small.mp4');
assert.ok(clip.length < mostBytes);

const get = (id: string) => service.call('GET', `/v1/content/${id}`);
const put = (uploadUrl: string, body: Buffer | string, headers: Record<string, string> = {}) =>
  send(local(service, uploadUrl), 'PUT', { body, headers });
const postForm = (fields: [string, string | Buffer][]) =>
  service.call('POST', '/v1/content/upload', { body: form(fields) });

function assertCode(reply: Reply, status: number, code: string, what = ''): void {
  assert.equal(reply.status, status, `${what} ${reply.text}`);
  assert.equal(reply.body.error.code, code, what);
}

/** Files below the storage, by their folder: `objects`, `work` or `trash`. */
async function files(folder: string): Promise<string[]> {
  const root = path.join(service.dataDir, 'media', folder);
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
}

async function countItems(): Promise<number> {
  const [row] = await query(service, 'select count(*)::int as n from content');
  return Number(row?.['n']);
}

/** What a refusal must not change. */
async function assertNothingLeft(work: () => Promise<void>): Promise<void> {
  const [objects, items] = [await files('objects'), await countItems()];
  await work();
  await eventually('work files to go', async () =>
    (await files('work')).length === 0 ? true : null,
  );
  assert.deepEqual(await files('objects'), objects, 'no stored file');
  assert.equal(await countItems(), items, 'no item');
}

test('JSON, then one PUT: the item waits with its bytes, whatever their Content-Type says', async () => {
  for (const type of ['video/mp4', 'application/octet-stream', 'application/json', 'text/plain']) {
    const { id, uploadUrl } = await createItem(service, { title: type });
    const reply = await put(uploadUrl, clip, { 'content-type': type });
    assert.equal(reply.status, 200, `${type}: ${reply.text}`);
    assert.equal(reply.body.data.id, id);
    assert.equal(reply.body.data.uploadStatus, 'pending');
  }
  const { uploadUrl } = await createItem(service);
  const chunked = await sendRaw(service.url, [
    `PUT ${new URL(uploadUrl).pathname} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n` +
      'Transfer-Encoding: chunked\r\n\r\n',
    ...[clip.subarray(0, 10), clip.subarray(10, 5_000), clip.subarray(5_000)].flatMap((part) => [
      `${part.length.toString(16)}\r\n`,
      part,
      '\r\n',
    ]),
    '0\r\n\r\n',
  ]);
  assert.deepEqual(chunked.statuses, [200]);
});

test('multipart takes its parts in any order, and tags in three forms', async () => {
  const orders: [string, string | Buffer][][] = [
    [
      ['title', 'File last'],
      ['tags', 'a, b'],
      ['file', clip],
    ],
    [
      ['file', clip],
      ['title', 'File first'],
      ['tags', '["a","b"]'],
    ],
    [
      ['tags', 'a'],
      ['file', clip],
      ['title', 'In between'],
      ['tags', 'b'],
    ],
  ];
  for (const fields of orders) {
    const reply = await postForm([...fields, ['customMetadata', '{"a":1}'], ['protected', 'true']]);
    assert.equal(reply.status, 201, reply.text);
    const { data } = reply.body;
    assert.equal(data.title, fields.find(([name]) => name === 'title')?.[1]);
    assert.deepEqual([data.tags, data.protected], [['a', 'b'], true]);
    assert.deepEqual(data.customMetadata, { a: 1 });
    assert.equal(data.uploadStatus, 'pending');
    assert.equal(reply.headers.get('location'), `/v1/content/${data.id}`);
    assert.equal('uploadUrl' in data, false);
    const { body } = await get(data.id);
    assert.deepEqual(body.data, data);
  }
});

test('fields of a form that JSON would refuse are refused, and no bytes stay', async () => {
  await assertNothingLeft(async () => {
    const refused: [[string, string | Buffer][], string][] = [
      [[['file', clip]], 'title'],
      [[['title', 'a']], 'file'],
      [
        [
          ['title', ''],
          ['file', clip],
        ],
        'title',
      ],
      [
        [
          ['title', 'a'],
          ['title', 'b'],
          ['file', clip],
        ],
        'title',
      ],
      [
        [
          ['title', 'a'],
          ['file', clip],
          ['unknown', 'b'],
        ],
        'unknown',
      ],
      [
        [
          ['title', 'a'],
          ['file', clip],
          ['id', 'b'],
        ],
        'id',
      ],
      [
        [
          ['title', 'a'.repeat(201)],
          ['file', clip],
        ],
        'title',
      ],
      [
        [
          ['title', 'a'.repeat(70_000)],
          ['file', clip],
        ],
        'title',
      ],
      [
        [
          ['title', 'a\0b'],
          ['file', clip],
        ],
        'title',
      ],
      [
        [
          ['title', 'a'],
          ['protected', 'yes'],
          ['file', clip],
        ],
        'protected',
      ],
      [
        [
          ['title', 'a'],
          ['publishAt', 'soon'],
          ['file', clip],
        ],
        'publishAt',
      ],
      [
        [
          ['title', 'a'],
          ['customMetadata', '{'],
          ['file', clip],
        ],
        'customMetadata',
      ],
      [
        [
          ['title', 'a'],
          ['customMetadata', '[]'],
          ['file', clip],
        ],
        'customMetadata',
      ],
      [
        [
          ['title', 'a'],
          ['customMetadata', '{"__proto__":1}'],
          ['file', clip],
        ],
        'customMetadata',
      ],
      [
        [
          ['title', 'a'],
          ['customMetadata', '{"\\u005f_proto__":1}'],
          ['file', clip],
        ],
        'customMetadata',
      ],
      [
        [
          ['title', 'a'],
          ['customMetadata', '['.repeat(30_000)],
          ['file', clip],
        ],
        'customMetadata',
      ],
      [
        [
          ['title', 'a'],
          ['customMetadata', '{"a":"\\u0000"}'],
          ['file', clip],
        ],
        'customMetadata.a',
      ],
      [
        [
          ['title', 'a'],
          ['tags', 'x'.repeat(101)],
          ['file', clip],
        ],
        'tags[0]',
      ],
      [
        [
          ['title', 'a'],
          ['tags', '['.repeat(30_000)],
          ['file', clip],
        ],
        'tags',
      ],
      [
        [
          ['title', 'a'],
          ['file', clip],
          ['other', clip],
        ],
        '',
      ],
      [
        [
          ['title', 'a'],
          ['file', clip],
          ['file', clip],
        ],
        '',
      ],
      [
        [
          ['title', 'a'],
          ['__proto__', 'x'],
          ['file', clip],
        ],
        '',
      ],
      [
        [
          ['title', 'a'],
          ['toString', 'x'],
          ['file', clip],
        ],
        '',
      ],
      [[...Array.from({ length: 60 }, (): [string, string] => ['tags', 'a']), ['file', clip]], ''],
    ];
    for (const [fields, field] of refused) {
      const what = JSON.stringify(fields.map(([name, value]) => [name, value.slice(0, 20)]));
      const reply = await postForm(fields);
      assert.equal(reply.status, 400, `${what} ${reply.text}`);
      if (field === '') continue;
      assert.equal(reply.body.error.code, 'VALIDATION_ERROR', what);
      assert.equal(reply.body.error.details[0].path, field, what);
    }
  });
});

test('a file name is never used', async () => {
  const names = [
    '../../etc/passwd',
    'C:\\x',
    'a".mp4',
    'con',
    '-y',
    '\u202Egpm.4pm',
    'x'.repeat(4_000),
  ];
  for (const name of names) {
    const data = new FormData();
    data.append('title', 'Named oddly');
    data.append('file', new Blob([new Uint8Array(clip)]), name);
    const reply = await service.call('POST', '/v1/content/upload', { body: data });
    assert.equal(reply.status, 201, reply.text);
    assert.ok(!JSON.stringify(reply.body).includes('passwd'));
  }
  assert.ok((await files('objects')).every((name) => /^[\w-]{12}$/.test(name)));
});

test('a malformed form is 400 and a missing or wrong body never 500', async () => {
  const raw = (headers: string[], body = '') =>
    sendRaw(service.url, [
      [
        'POST /v1/content/upload HTTP/1.1',
        'Host: x',
        'Connection: close',
        `Authorization: Bearer ${service.secretKey}`,
        ...headers,
        '',
        body,
      ].join('\r\n'),
    ]);
  const sized = (type: string, body: string) =>
    raw([`Content-Type: ${type}`, `Content-Length: ${Buffer.byteLength(body)}`], body);
  await assertNothingLeft(async () => {
    for (const [answer, expected] of [
      [await raw([]), [400]],
      [await raw(['Content-Length: 0']), [400]],
      [await raw(['Content-Type: application/json', 'Content-Length: 0']), [400]],
      [await sized('multipart/form-data', 'x'), [400, 415]],
      [await sized('multipart/form-data; boundary=b', 'no boundary here'), [400]],
      [await sized('multipart/form-data; boundary=b', ''), [400]],
      [await sized('multipart/form-data; boundary=b', '--b\r\nno headers'), [400]],
      [
        await sized(
          'multipart/form-data; boundary=b',
          '--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nx',
        ),
        [400, 422],
      ],
      [await sized('multipart/mixed; boundary=b', '--b--'), [415]],
      [await sized('text/plain', '{"title":"a"}'), [415]],
      [await sized('APPLICATION/JSON', '{"title":"a","unknown":1}'), [400]],
      [await sized('application/json; charset=utf-8', '{"title":5}'), [400]],
      [await sized('application/json ; x=y', '{"title":5}'), [400]],
    ] as const) {
      assert.ok(
        (expected as readonly number[]).includes(answer.statuses[0] ?? 0),
        `${answer.statuses.join()} instead of ${expected.join()}: ${answer.text}`,
      );
      assert.match(answer.body.error.code, /^[A-Z_]+$/);
    }
  });
});

test('JSON on the upload route has the limits of any JSON: a megabyte, and its time', async () => {
  const reply = await service.call('POST', '/v1/content/upload', {
    body: { title: 'a', description: 'b'.repeat(1024 * 1024) },
  });
  assertCode(reply, 413, 'PAYLOAD_TOO_LARGE');
});

test('hostile bytes are refused by both ways, or taken as media to be judged by the engine', async () => {
  // These begin like media, so only the engine can tell; see the tests of processing.
  const disguised = [
    'no-index.mp4',
    'cut.mp4',
    'header-then-garbage.mp4',
    'garbage-pictures.mp4',
    'external-track.mov',
  ];
  const polyglots: [string, Buffer][] = [
    ['a PDF', Buffer.from('%PDF-1.7\n%âãÏÓ\n')],
    ['a JPEG', Buffer.from('ffd8ffe000104a46494600010100000100010000', 'hex')],
    ['a GIF with script', Buffer.from('GIF89a/*\x01\x00*/=1;alert(1)')],
    ['a zip', Buffer.from('504b0304140000000800', 'hex')],
    ['a program', Buffer.from('7f454c4602010100', 'hex')],
    ['a script', Buffer.from('#!/bin/sh\nrm -rf /\n')],
    ['a DASH manifest', Buffer.from('<?xml version="1.0"?><MPD></MPD>')],
    ['one byte', Buffer.from('a')],
    ['nothing', Buffer.alloc(0)],
  ];
  const corpus: [string, Buffer][] = [...polyglots];
  for (const name of HOSTILE_NAMES) {
    if (!disguised.includes(name)) corpus.push([name, await sampleBytes(name)]);
  }
  assert.ok(corpus.length >= 15);
  const { id, uploadUrl } = await createItem(service);
  await assertNothingLeft(async () => {
    for (const [name, bytes] of corpus) {
      assertCode(await put(uploadUrl, bytes), 422, 'INVALID_MEDIA', name);
      const reply = await postForm([
        ['title', name],
        ['file', bytes],
      ]);
      assertCode(reply, 422, 'INVALID_MEDIA', name);
    }
  });
  assert.equal((await get(id)).body.data.uploadStatus, 'pending');
  assert.equal((await put(uploadUrl, clip)).status, 200, 'the URL is still good');
});

test('the size limit holds for both ways, declared or not, to the byte', async () => {
  const exact = Buffer.concat([clip, Buffer.alloc(mostBytes - clip.length)]);
  const over = Buffer.concat([exact, Buffer.alloc(1)]);
  const { uploadUrl } = await createItem(service);
  const pathname = new URL(uploadUrl).pathname;
  await assertNothingLeft(async () => {
    assertCode(await put(uploadUrl, over), 413, 'PAYLOAD_TOO_LARGE');
    const declared = await sendRaw(
      service.url,
      [`PUT ${pathname} HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n`],
      500,
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
      500,
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

test('an upload that is cut off leaves no file, and its URL stays good', async () => {
  const { id, uploadUrl } = await createItem(service);
  const pathname = new URL(uploadUrl).pathname;
  const boundary = 'b';
  const part = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n`;
  await assertNothingLeft(async () => {
    await sendRaw(
      service.url,
      [
        `PUT ${pathname} HTTP/1.1\r\nHost: x\r\nContent-Length: ${clip.length}\r\n\r\n`,
        clip.subarray(0, clip.length - 1),
      ],
      200,
    );
    await sendRaw(
      service.url,
      [
        `POST /v1/content/upload HTTP/1.1\r\nHost: x\r\nContent-Length: ${clip.length + 500}\r\n` +
          `Authorization: Bearer ${service.secretKey}\r\n` +
          `Content-Type: multipart/form-data; boundary=${boundary}\r\n\r\n${part}`,
        clip.subarray(0, clip.length - 1),
      ],
      200,
    );
  });
  assert.equal((await get(id)).body.data.uploadStatus, 'pending');
  assert.equal((await put(uploadUrl, clip)).status, 200);
});

test('a sender that falls silent or drips gets 408 in every phase, and leaves no file', async () => {
  const { uploadUrl } = await createItem(service);
  const head = (target: string, ...headers: string[]) =>
    [`${target} HTTP/1.1`, 'Host: x', 'Content-Length: 100000', ...headers, '', ''].join('\r\n');
  const putHead = head(`PUT ${new URL(uploadUrl).pathname}`);
  const formHead = head(
    'POST /v1/content/upload',
    `Authorization: Bearer ${service.secretKey}`,
    'Content-Type: multipart/form-data; boundary=b',
  );
  const filePart = '--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n';
  const drip = Array.from({ length: 60 }, () => ['x', 50]).flat();
  await assertNothingLeft(async () => {
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
      ].map((pieces) => sendRaw(service.url, pieces, 8_000)),
    );
    for (const [index, answer] of answers.entries()) {
      assert.deepEqual(answer.statuses, [408], `case ${index}: ${answer.text}`);
      assert.equal(answer.closed, true, `case ${index} is closed`);
      assert.equal(answer.body.error.code, 'REQUEST_TIMEOUT');
    }
  });
  assert.equal((await put(uploadUrl, clip)).status, 200);
});

test('bytes are taken once: a second PUT is 409, of many at once one wins', async () => {
  const { id, uploadUrl } = await createItem(service);
  const other = await sampleBytes('silent.mp4');
  const before = (await files('objects')).length;
  const replies = await Promise.all(
    Array.from({ length: 8 }, (_, index) => put(uploadUrl, index % 2 === 0 ? clip : other)),
  );
  assert.equal(replies.filter(({ status }) => status === 200).length, 1);
  for (const reply of replies.filter(({ status }) => status !== 200)) {
    assertCode(reply, 409, 'CONFLICT');
  }
  assertCode(await put(uploadUrl, clip), 409, 'CONFLICT');
  assert.equal((await files('objects')).length, before + 1);
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
      300,
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
      300,
    );
  assert.deepEqual((await ask(service.publishableKey)).statuses, [403]);
  assert.deepEqual((await ask('rf_sk_wrong')).statuses, [401]);
});

test('items are protected by default where the organization says so', async () => {
  const { secretKey } = await createOrganization(service, 'Protected');
  const change = { key: secretKey, body: { defaultProtected: true } };
  assert.equal((await service.call('PATCH', '/v1/organization', change)).status, 200);
  const create = async (body: object) =>
    (await service.call('POST', '/v1/content/upload', { key: secretKey, body })).body.data
      .protected;
  assert.equal(await create({ title: 'a' }), true);
  assert.equal(await create({ title: 'a', protected: false }), false);
});
