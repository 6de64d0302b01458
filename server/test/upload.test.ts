/**
 * Proves both ways of uploading: what is accepted and rejected, and that a rejection leaves
 * nothing.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { form, local, sampleBytes } from './media.ts';
import { HOSTILE_NAMES } from './media-samples.ts';
import { sendRaw } from './raw-http.ts';
import { createItem, createOrganization } from './seed.ts';
import { send, startService, type Reply } from './service.ts';
import { assertNothingLeft, storedFiles } from './stored-files.ts';

const maxBytes = 300_000;
// Without the role `media`, nothing is processed: these tests are about incoming bytes.
const service = await startService({
  REELFEED_ROLES: 'api,worker',
  REELFEED_MAX_UPLOAD_BYTES: String(maxBytes),
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

test('a PUT of a part of a file is rejected and leaves the upload open', async () => {
  const { id, uploadUrl } = await createItem(service);
  const half = clip.subarray(0, clip.length / 2);
  const range = `bytes 0-${half.length - 1}/${clip.length}`;
  const refused = await put(uploadUrl, half, { 'content-range': range });
  assertCode(refused, 400, 'INVALID_REQUEST');
  assert.match(refused.body.error.message, /Content-Range/);
  assert.equal((await put(uploadUrl, clip)).body.data.id, id);
});

test('multipart accepts its parts in any order, and tags in three forms', async () => {
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
    assert.deepEqual(body.data, { ...data, sourceTracks: [], warnings: [] });
  }
});

test('form fields that JSON would reject are rejected, and no bytes are kept', async () => {
  await assertNothingLeft(service, async () => {
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
  assert.ok(
    (await storedFiles(service, 'objects')).every((file) =>
      /^sources\/[\w-]+\/[\w-]{12}$/.test(file),
    ),
  );
});

test('a malformed form is 400, and a missing or invalid body is never 500', async () => {
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
  await assertNothingLeft(service, async () => {
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

test('hostile bytes are refused by both ways, or taken as media to be judged by the engine', async () => {
  // These start like media, so only the engine can reject them; see the processing tests.
  const disguised = [
    'no-index.mp4',
    'cut.mp4',
    'cut.avi',
    'cut.flv',
    'cut.ts',
    'header-then-garbage.mp4',
    'garbage-pictures.mp4',
    'external-track.mov',
  ];
  const polyglots: [string, Buffer][] = [
    ['a PDF', Buffer.from('%PDF-1.7\n%âãÏÓ\n')],
    ['a JPEG', Buffer.from('ffd8ffe000104a46494600010100000100010000', 'hex')],
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
  await assertNothingLeft(service, async () => {
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

test('items are protected by default if the organization says so', async () => {
  const { secretKey } = await createOrganization(service, 'Protected');
  const change = { key: secretKey, body: { defaultProtected: true } };
  assert.equal((await service.call('PATCH', '/v1/organization', change)).status, 200);
  const create = async (body: object) =>
    (await service.call('POST', '/v1/content/upload', { key: secretKey, body })).body.data
      .protected;
  assert.equal(await create({ title: 'a' }), true);
  assert.equal(await create({ title: 'a', protected: false }), false);
});
