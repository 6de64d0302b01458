/**
 * Proves that the API description contains what generators and viewers of API descriptions expect.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { send, startService } from '../../../test/service.ts';

const service = await startService({ REELFEED_ROLES: 'api' });
const { body: api } = await send(`${service.url}/openapi.json`, 'GET');

test('resources are named schemas, and every reference leads somewhere', () => {
  for (const name of [
    'Content',
    'BulkJob',
    'Error',
    'Key',
    'Webhook',
    'Delivery',
    'Organization',
  ]) {
    assert.equal(api.components.schemas[name]?.type, 'object', name);
  }
  const references = JSON.stringify(api).matchAll(/"\$ref":"#\/([^"]+)"/g);
  let count = 0;
  for (const [, pointer = ''] of references) {
    const found = pointer.split('/').reduce((part, name) => part?.[name], api);
    assert.ok(found, pointer);
    count += 1;
  }
  assert.ok(count > 200, `${count} references`);
  const get = api.paths['/v1/content/{id}'].get.responses['200'];
  const { schema } = get.content['application/json'];
  assert.deepEqual(schema.properties.data, { $ref: '#/components/schemas/Content' });
});

test('operations have descriptions and declared tags; outgoing requests have plain ids', () => {
  const declared = new Set(api.tags.map(({ name }: { name: string }) => name));
  type Described = { description?: string; tags: string[] };
  for (const path of Object.values<Record<string, Described>>(api.paths)) {
    for (const { description, tags } of Object.values(path)) {
      assert.ok((description ?? '').length > 0);
      for (const tag of tags) assert.ok(declared.has(tag), tag);
    }
  }
  type Outgoing = { operationId: string; security: unknown[] };
  for (const methods of Object.values<Record<string, Outgoing>>(api.webhooks)) {
    for (const { operationId, security } of Object.values(methods)) {
      assert.match(operationId, /^[\w-]+$/);
      assert.deepEqual(security, []);
    }
  }
});

test('each answer names its headers, each failure its codes with an example', () => {
  const { responses } = api.paths['/v1/content/{id}'].patch;
  for (const status of ['400', '401', '403', '404', '415', '429', '503']) {
    assert.deepEqual(responses[status], { $ref: `#/components/responses/${status}` });
  }
  assert.ok(responses['200'].headers['X-Request-Id']);
  const tooMany = api.components.responses['429'];
  assert.deepEqual(Object.keys(tooMany.headers), ['X-Request-Id', 'Retry-After']);
  const { examples } = tooMany.content['application/json'];
  assert.equal(examples.RATE_LIMITED.value.error.code, 'RATE_LIMITED');
});

test('every code has a page that says what to do, reachable from the reference', async () => {
  assert.match(api.info.description, /\/docs\/errors/);
  const index = await send(`${service.url}/docs/errors`, 'GET');
  assert.equal(index.status, 200);
  const codes = api.components.schemas.Error.properties.error.properties.code.enum;
  assert.ok(codes.length > 20);
  for (const code of codes) {
    assert.ok(index.text.includes(`href="errors/${code}"`), code);
    const page = await send(`${service.url}/docs/errors/${code}`, 'GET');
    assert.equal(page.status, 200, code);
    assert.match(page.headers.get('content-type') ?? '', /^text\/html/);
    assert.match(page.text, /What to do/);
  }
});
