/** Tests how the API handles every kind of value: text, numbers, types, unknown fields. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { createItem } from './seed.ts';
import { startService, type Reply } from './service.ts';

const service = await startService();
let id = '';
before(async () => {
  ({ id } = await createItem(service));
});

const patch = (body: unknown) => service.call('PATCH', `/v1/content/${id}`, { body });

function assertRefused(reply: Reply, path: string, code = 'VALIDATION_ERROR'): void {
  assert.equal(reply.status, 400, `${path}: ${reply.text.slice(0, 300)}`);
  assert.equal(reply.body.error.code, code, path);
  if (path !== '') {
    const paths = reply.body.error.details.map((detail: { path: string }) => detail.path);
    assert.ok(paths.includes(path), `${path} is named, not ${paths.join()}`);
  }
}

const emoji = '\u{1F3AC}';

test('text limits count code points, also for four-byte emoji and combining marks', async () => {
  const limits = { title: 200, description: 2000, section: 200, author: 200, externalId: 255 };
  for (const [field, most] of Object.entries(limits)) {
    for (const letter of ['a', emoji, 'é', '\u0301', '\u202E']) {
      const fits = letter.repeat(most);
      const reply = await patch({ [field]: fits });
      assert.equal(reply.status, 200, `${field} of ${most} × ${letter}`);
      assert.equal(reply.body.data[field], fits);
      assertRefused(await patch({ [field]: letter.repeat(most + 1) }), field);
    }
  }
  const tags = [emoji.repeat(100)];
  assert.deepEqual((await patch({ tags })).body.data.tags, tags);
  assertRefused(await patch({ tags: [emoji.repeat(101)] }), 'tags[0]');
});

test('NUL and lone surrogates are rejected with the name of their field, at any depth', async () => {
  const cases: [string, string][] = [
    ['{"title":"a\\u0000b"}', 'title'],
    ['{"title":"a\\ud800b"}', 'title'],
    ['{"description":"\\udfff"}', 'description'],
    ['{"tags":["ok","\\u0000"]}', 'tags[1]'],
    ['{"customMetadata":{"a":{"b":["\\ud83c"]}}}', 'customMetadata.a.b[0]'],
    ['{"title":"\\uD83C \\uDFAC"}', 'title'],
  ];
  for (const [body, path] of cases) {
    const reply = await service.call('PATCH', `/v1/content/${id}`, {
      body,
      headers: { 'content-type': 'application/json' },
    });
    assertRefused(reply, path);
  }
  const key = await service.call('PATCH', `/v1/content/${id}`, {
    body: '{"customMetadata":{"a\\u0000":1}}',
    headers: { 'content-type': 'application/json' },
  });
  assertRefused(key, '');
  const pair = await service.call('PATCH', `/v1/content/${id}`, {
    body: '{"title":"\\ud83c\\udfac"}',
    headers: { 'content-type': 'application/json' },
  });
  assert.equal(pair.body.data.title, emoji);
});

test('a field of the wrong type is refused by name: nothing is coerced', async () => {
  const right: Record<string, readonly string[]> = {
    title: ['string'],
    description: ['string', 'null'],
    tags: ['array'],
    section: ['string', 'null'],
    author: ['string', 'null'],
    customMetadata: ['object'],
    visibility: [],
    protected: ['boolean'],
    publishAt: ['null'],
    expiresAt: ['null'],
    externalId: ['string', 'null'],
    videoQuality: [],
    articleUrl: ['null'],
    publishStatus: [],
  };
  const values: Record<string, unknown> = {
    string: 'a text',
    number: 5,
    boolean: true,
    null: null,
    array: [],
    object: {},
  };
  for (const [field, fitting] of Object.entries(right)) {
    for (const [type, value] of Object.entries(values)) {
      const reply = await patch({ [field]: value });
      if (fitting.includes(type)) assert.equal(reply.status, 200, `${field}: ${type}`);
      else assertRefused(reply, field);
    }
  }
  for (const tag of [5, null, true, {}, []]) {
    assertRefused(await patch({ tags: [tag] }), 'tags[0]');
  }
  for (const body of [null, [], 'text', 5, true, {}]) {
    const reply = await service.call('PATCH', `/v1/content/${id}`, {
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    });
    assert.equal(reply.status, 400, JSON.stringify(body));
    assert.equal(reply.body.error.code, 'INVALID_REQUEST');
  }
});

test('unknown and read-only fields are rejected by name and never assigned', async () => {
  const fields = [
    'organizationId',
    'organization_id',
    'id',
    'contentType',
    'uploadStatus',
    'status',
    'createdAt',
    'updatedAt',
    'duration',
    'streamingUrl',
    'errorReason',
    'progress',
    'revision',
    'archivedAt',
    'playbackId',
    'secret',
    'participants',
    'toString',
    'hasOwnProperty',
  ];
  const bodyOf = (field: string) => ({ title: 'changed by a hidden field', [field]: 'x' });
  for (const field of fields) assertRefused(await patch(bodyOf(field)), field);
  for (const field of fields) {
    const reply = await service.call('POST', '/v1/content/upload', { body: bodyOf(field) });
    assertRefused(reply, field);
    assertRefused(
      await service.call('POST', '/v1/keys', { body: { type: 'secret', name: 'a', [field]: 1 } }),
      field,
    );
    assertRefused(
      await service.call('PATCH', '/v1/organization', { body: { name: 'a', [field]: 1 } }),
      field,
    );
  }
  const item = await service.call('GET', `/v1/content/${id}`);
  assert.notEqual(item.body.data.title, 'changed by a hidden field');
});

test('keys that are special in JavaScript are rejected, or kept without effect', async () => {
  for (const body of [
    '{"__proto__":{"title":"x"}}',
    '{"customMetadata":{"__proto__":{"polluted":true}}}',
    '{"customMetadata":{"\\u005f_proto__":{"polluted":true}}}',
    '{"customMetadata":{"constructor":{"prototype":{"polluted":true}}}}',
  ]) {
    const reply = await service.call('PATCH', `/v1/content/${id}`, {
      body,
      headers: { 'content-type': 'application/json' },
    });
    assertRefused(reply, '', 'INVALID_REQUEST');
  }
  const customMetadata = {
    toString: 'a',
    hasOwnProperty: 1,
    constructor: 'b',
    valueOf: null,
    length: 0,
  };
  const reply = await patch({ customMetadata: { ...customMetadata, valueOf: 'c' } });
  assert.equal(reply.status, 200);
  assert.equal(reply.body.data.customMetadata.toString, 'a');
  const merged = (await patch({ customMetadata })).body.data.customMetadata;
  assert.equal(Object.hasOwn(merged, 'valueOf'), false);
  assert.equal('polluted' in {}, false);
});

test('deep and wide JSON costs little and breaks nothing, with an idempotency key too', async () => {
  for (const depth of [10_000, 160_000]) {
    for (const headers of [{}, { 'idempotency-key': `deep-${depth}` }]) {
      const nested = `{"customMetadata":${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}}`;
      const array = `{"customMetadata":{"a":${'['.repeat(depth)}${']'.repeat(depth)}}}`;
      for (const body of [nested, array].filter((text) => text.length < 1024 * 1024)) {
        const reply = await service.call('PATCH', `/v1/content/${id}`, {
          body,
          headers: { 'content-type': 'application/json', ...headers },
        });
        assert.equal(reply.status, 400, reply.text.slice(0, 200));
      }
    }
  }
  const wide = Object.fromEntries(
    Array.from({ length: 40_000 }, (_, index) => [`key-${index}`, index]),
  );
  assert.equal((await patch({ customMetadata: wide })).status, 400);
  assert.equal((await patch({ customMetadata: { ['k'.repeat(1_000_000)]: 1 } })).status, 400);
  assert.equal((await patch({ customMetadata: { a: 'b'.repeat(2 ** 20) } })).status, 413);
});

test('customMetadata holds 16 KiB and eight levels of finite values', async () => {
  const { id: own } = await createItem(service);
  const change = (body: unknown) => service.call('PATCH', `/v1/content/${own}`, { body });
  const overhead = JSON.stringify({ a: '' }).length;
  const fits = { a: 'x'.repeat(16 * 1024 - overhead) };
  assert.deepEqual((await change({ customMetadata: fits })).body.data.customMetadata, fits);
  const tooLarge = await change({ customMetadata: { b: 1 } });
  assertRefused(tooLarge, 'customMetadata', 'LIMIT_EXCEEDED');
  assert.equal((await change({ customMetadata: { a: null } })).status, 200);
  const nest = (levels: number): unknown => (levels === 0 ? 1 : { a: nest(levels - 1) });
  assert.equal((await change({ customMetadata: nest(8) })).status, 200);
  assertRefused(await change({ customMetadata: nest(9) }), 'customMetadata');
  const infinite = await service.call('PATCH', `/v1/content/${own}`, {
    body: '{"customMetadata":{"n":1e400}}',
    headers: { 'content-type': 'application/json' },
  });
  assert.equal(infinite.status, 400);
  assert.equal(infinite.body.error.code, 'INVALID_REQUEST');
  assert.match(infinite.body.error.message, /1e400.*out of range/);
});

test('customMetadata is returned as sent', async () => {
  const { id: own } = await createItem(service);
  const sent = {
    big: 9007199254740991,
    small: 1e-300,
    negative: -0.5,
    empty: '',
    list: [1, 'a', null, { b: [] }],
    'a.b': 1,
    'quote"\\': '\u2028\n\t',
    [emoji]: true,
  };
  const { body } = await service.call('PATCH', `/v1/content/${own}`, {
    body: { customMetadata: sent },
  });
  assert.deepEqual(body.data.customMetadata, sent);
  const read = await service.call('GET', `/v1/content/${own}`);
  assert.deepEqual(read.body.data.customMetadata, sent);
});

test('timestamps are strictly RFC 3339 with an offset, and are returned in UTC', async () => {
  const wrong = [
    '2026-02-30T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01T00:00:60Z',
    '2026-01-01T00:00:00',
    '2026-01-01',
    '2026-01-01 00:00:00Z',
    '2026-01-01T00:00:00+2500',
    '2026-01-01T00:00:00+24:00',
    '1767225600000',
    'tomorrow',
    '',
    '٢٠٢٦-01-01T00:00:00Z',
    '9999-12-31T23:59:59-23:59',
    '0000-01-01T00:00:00+23:59',
  ];
  for (const publishAt of wrong) assertRefused(await patch({ publishAt }), 'publishAt');
  const right = {
    '2028-02-29T12:00:00Z': '2028-02-29T12:00:00.000Z',
    '2026-01-01t00:00:00z': '2026-01-01T00:00:00.000Z',
    '2026-01-01T00:00:00.123456789+05:30': '2025-12-31T18:30:00.123Z',
    '9999-12-31T23:59:59Z': '9999-12-31T23:59:59.000Z',
    '1970-01-01T00:00:00-00:00': '1970-01-01T00:00:00.000Z',
  };
  for (const [publishAt, shown] of Object.entries(right)) {
    const reply = await patch({ publishAt });
    assert.equal(reply.status, 200, `${publishAt}: ${reply.text}`);
    assert.equal(reply.body.data.publishAt, shown);
  }
});

test('articleUrl is an http or https URL of at most 2,048 characters', async () => {
  const wrong = [
    'ftp://a.example',
    'javascript:alert(1)',
    '//a.example',
    'a.example',
    'http://',
    'https://user:word@a.example',
    'data:text/html,a',
    `https://a.example/${'a'.repeat(2_048)}`,
    '',
  ];
  for (const articleUrl of wrong) assertRefused(await patch({ articleUrl }), 'articleUrl');
  for (const articleUrl of ['http://a.example', 'https://ä.example/ü?q=1#x']) {
    assert.equal((await patch({ articleUrl })).status, 200);
  }
});

test('limit and other parameters are read strictly, on every list', async () => {
  const wrong = ['0', '-1', '101', '1.5', 'abc', '', '1e9', '0x10', ' 5', '5 ', '+5', '١', 'NaN'];
  for (const route of ['/v1/content', '/v1/keys', '/v1/feed']) {
    for (const limit of wrong) {
      const reply = await service.call('GET', `${route}?limit=${encodeURIComponent(limit)}`);
      assertRefused(reply, 'query.limit');
    }
    assertRefused(await service.call('GET', `${route}?limit=1&limit=2`), 'query.limit');
    assertRefused(await service.call('GET', `${route}?limit[]=1`), 'query.limit[]');
    assertRefused(await service.call('GET', `${route}?unknown=1`), 'query.unknown');
    assertRefused(await service.call('GET', `${route}?api_key=x`), 'query.api_key');
    assertRefused(await service.call('GET', `${route}?cursor=%00`), 'query.cursor');
    assert.equal((await service.call('GET', `${route}?limit=1`)).status, 200);
  }
  for (const query of [
    'archived=yes',
    'archived=false',
    'sort=id',
    'order=up',
    'contentType=film',
    'uploadStatus=',
    'visibility=secret',
    'createdAfter=yesterday',
    'createdBefore=2026-02-30T00:00:00Z',
    'search=',
    `search=${'a'.repeat(201)}`,
    'tags=a&tags=b',
  ]) {
    assertRefused(
      await service.call('GET', `/v1/content?${query}`),
      `query.${query.split('=')[0]}`,
    );
  }
  const twice = await service.call('GET', '/v1/content?tags=a&tags=b');
  assert.equal(twice.body.error.message, 'query.tags: must be given exactly once');
});

test('a malformed id is 404, however long or odd it is', async () => {
  const odd = [
    'x',
    '1',
    `{${id}}`,
    `${id}%20`,
    id.replaceAll('-', ''),
    '00000000-0000-4000-8000-000000000000',
    '%27%20or%201%3D1',
    'a'.repeat(512),
    'a'.repeat(513),
    'a'.repeat(5_000),
    '%F0%9F%8E%AC',
    '..%2F..%2Fetc',
  ];
  for (const one of odd) {
    const calls: [string, string, object?][] = [
      ['GET', `/v1/content/${one}`],
      ['PATCH', `/v1/content/${one}`, { title: 'a' }],
      ['DELETE', `/v1/content/${one}`],
      ['POST', `/v1/content/${one}/restore`],
      ['POST', `/v1/content/${one}/retry`],
      ['POST', `/v1/content/${one}/playback-token`],
      ['DELETE', `/v1/keys/${one}`],
    ];
    for (const [method, path, body] of calls) {
      const reply = await service.call(method, path, body === undefined ? {} : { body });
      assert.equal(reply.status, 404, `${method} ${path.slice(0, 80)}: ${reply.text}`);
      assert.equal(reply.body.error.code, 'NOT_FOUND');
    }
  }
  assert.equal((await service.call('GET', `/v1/content/${id.toUpperCase()}`)).status, 200);
});
