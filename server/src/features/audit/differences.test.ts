/** Audit entries contain the values before and after a change, bounded and without secrets. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startService } from '../../../test/service.ts';
import { until } from '../../../test/waiting.ts';
import { secretQuery } from '../../platform/http/secret-fields.ts';
import { createPerson } from '../../../test/people/people.ts';
import { differencesOf, maxFields, maxTotalBytes } from './differences.ts';

const service = await startService();

/** Sends a request and returns the differences in its entry. */
async function differencesAfter(method: string, path: string, body?: object) {
  const reply = await service.call(method, path, body === undefined ? {} : { body });
  assert.ok(reply.status < 300, `${method} ${path}: ${reply.text}`);
  const { data } = (await service.call('GET', '/v1/audit?limit=1')).body;
  assert.equal(data[0].requestId, reply.headers.get('x-request-id'));
  return data[0].differences;
}

const one = (field: string, before: unknown, after: unknown) => ({
  fields: [{ field, before, after }],
  omitted: 0,
});

test('the organization, the ranking, settings, flags, keys and roles show what was and what is', async () => {
  const { name } = (await service.call('GET', '/v1/organization')).body.data;
  const rename = () => differencesAfter('PATCH', '/v1/organization', { name: 'Renamed' });
  assert.deepEqual(await rename(), one('name', name, 'Renamed'));
  assert.equal(await rename(), null);

  const { data: ranking } = (await service.call('GET', '/v1/ranking/config')).body;
  assert.deepEqual(
    await differencesAfter('PUT', '/v1/ranking/config', { recencyHalfLifeHours: 6 }),
    one('recencyHalfLifeHours', ranking.recencyHalfLifeHours, 6),
  );
  await service.call('PUT', '/v1/ranking/config', { body: {} });
  assert.deepEqual(
    await differencesAfter('POST', '/v1/ranking/config/versions/1/restore'),
    one('recencyHalfLifeHours', ranking.recencyHalfLifeHours, 6),
  );

  const rule = { type: 'boost', match: { tags: ['news'] }, factor: 2 };
  const { body: made } = await service.call('POST', '/v1/ranking/rules', { body: rule });
  const rulePath = `/v1/ranking/rules/${made.data.id}`;
  assert.deepEqual(
    await differencesAfter('PATCH', rulePath, { factor: 3 }),
    one('factor', rule.factor, 3),
  );
  const gone = await differencesAfter('DELETE', rulePath);
  assert.deepEqual(
    gone.fields.find(({ field }: { field: string }) => field === 'factor'),
    { field: 'factor', before: 3, after: null },
  );
  const holdout = '/v1/experiments/holdout';
  const share = { traffic: 0.1 };
  assert.deepEqual(await differencesAfter('PUT', holdout, share), one('traffic', 0, 0.1));
  assert.equal(await differencesAfter('PUT', holdout, share), null);

  const setting = '/v1/settings/player.speed';
  assert.deepEqual(await differencesAfter('PUT', setting, { value: 1 }), one('value', null, 1));
  assert.deepEqual(await differencesAfter('PUT', setting, { value: 2 }), one('value', 1, 2));
  assert.deepEqual(await differencesAfter('DELETE', setting), one('value', 2, null));
  const flag = '/v1/flags/comments';
  assert.deepEqual(await differencesAfter('PUT', flag, { value: true }), one('value', null, true));

  const request = { body: { type: 'publishable', name: 'Shop' } };
  const { id: keyId, key } = (await service.call('POST', '/v1/keys', request)).body.data;
  const revoked = await differencesAfter('DELETE', `/v1/keys/${keyId}`);
  assert.deepEqual(
    revoked.fields.map(({ field, before }: { field: string; before: unknown }) => [field, before]),
    [['revokedAt', null]],
  );
  assert.ok(!JSON.stringify(revoked).includes(key));

  const person = await createPerson(service, 'viewer');
  const { id: personId } = (await person.call('GET', '/console/account')).body.data;
  const at = `/v1/people/${personId}`;
  assert.deepEqual(
    await differencesAfter('PATCH', at, { role: 'editor' }),
    one('role', 'viewer', 'editor'),
  );
  assert.deepEqual(await differencesAfter('DELETE', at), one('role', 'editor', null));
});

test('webhooks show no query string and no header value, and say that they changed', async () => {
  const body = {
    url: 'https://example.com/a?token=first',
    events: ['content.ready'],
    headers: { authorization: 'hidden-header' },
  };
  const made = await service.call('POST', '/v1/webhooks', { body });
  assert.equal(made.status, 201, made.text);
  const at = `/v1/webhooks/${made.body.data.id}`;
  const url = 'https://example.com/a';
  assert.deepEqual(
    await differencesAfter('PATCH', at, { url: `${url}?token=second` }),
    one('url', url, url),
  );
  assert.deepEqual(
    await differencesAfter('PATCH', at, { events: ['content.*'] }),
    one('events', ['content.ready'], ['content.*']),
  );
  const rotated = await differencesAfter('POST', `${at}/rotate-secret`);
  assert.equal(rotated.fields[0].field, 'previousSecretExpiresAt');
  await differencesAfter('DELETE', at);
  const { text } = await service.call('GET', `/v1/audit?limit=100`);
  for (const secret of ['token=', 'hidden-header', made.body.data.secret]) {
    assert.ok(!text.includes(secret), secret);
  }
});

test('experiments show the part that changed; the entry forgets an erased viewer', async () => {
  const variants = [
    { id: 'control', name: 'Control', traffic: 0.5 },
    { id: 'fast', name: 'Fast', traffic: 0.5 },
  ];
  const body = { name: 'Speed', type: 'config', variants, metrics: ['watchTime'] };
  const made = await service.call('POST', '/v1/experiments', { body });
  assert.equal(made.status, 201, made.text);
  const at = `/v1/experiments/${made.body.data.id}`;
  const named = variants.with(1, { id: 'fast', name: 'Faster', traffic: 0.5 });
  assert.deepEqual(
    await differencesAfter('PATCH', at, { variants: named }),
    one('variants[1].name', 'Fast', 'Faster'),
  );
  const userId = 'viewer-in-a-trial';
  const forced = { userId, variantId: 'fast' };
  assert.deepEqual(
    await differencesAfter('PATCH', at, { forcedVariants: [forced] }),
    one('forcedVariants[0]', null, forced),
  );
  const erased = await service.call('DELETE', `/v1/users/${userId}/data`);
  assert.ok(erased.status < 300, erased.text);
  await until(
    'the audit log has forgotten the viewer',
    async () => (await service.call('GET', '/v1/audit?limit=100')).text,
    (text) => !text.includes(userId),
  );
});

test('changes at the same time form a chain: nobody is recorded with the change of another', async () => {
  const start = (await service.call('GET', '/v1/organization')).body.data.name;
  const names = Array.from({ length: 12 }, (_, index) => `Name ${index}`);
  await Promise.all(
    names.map((name) => service.call('PATCH', '/v1/organization', { body: { name } })),
  );
  const { data } = (await service.call('GET', '/v1/audit?limit=12&action=updateOrganization')).body;
  const next = new Map<string, string>();
  for (const { differences, changes } of data) {
    assert.equal(differences.fields[0].after, changes.name);
    next.set(differences.fields[0].before, changes.name);
  }
  const chain = [start];
  for (let at = next.get(start); at !== undefined; at = next.get(at)) chain.push(at);
  assert.deepEqual(chain.slice(1).toSorted(), names.toSorted());
});

test('values, fields and the whole are bounded, and half characters are not kept', () => {
  const long = differencesOf({ text: '' }, { text: `${'x'.repeat(299)}😀 and more` });
  assert.deepEqual(long, one('text', '', `${'x'.repeat(299)}…`));
  const list = differencesOf({ tags: ['a'] }, { tags: Array.from({ length: 500 }, () => 'b') });
  assert.deepEqual(list, one('tags', ['a'], '[2001 characters of JSON]'));
  const wide = (value: string) =>
    Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`field${index}`, value]));
  const many = differencesOf(wide('a'), wide('b'));
  assert.deepEqual([many?.fields.length, many?.omitted], [maxFields, 200 - maxFields]);
  const big = differencesOf(wide('€'.repeat(300)), wide('¥'.repeat(300)));
  assert.ok(Buffer.byteLength(JSON.stringify(big?.fields)) <= maxTotalBytes + maxFields + 2);
  assert.equal((big?.fields.length ?? 0) + (big?.omitted ?? 0), 200);
});

test('values equal in JSON are no difference; a hidden change is one', () => {
  assert.equal(differencesOf({ a: undefined, b: { x: 1, y: 2 } }, { b: { y: 2, x: 1 } }), null);
  const secrets = { type: 'object', properties: { url: { type: 'string', ...secretQuery } } };
  const shown = differencesOf(
    { url: 'https://a.example/p?k=1' },
    { url: 'https://a.example/p?k=2' },
    secrets,
  );
  assert.deepEqual(shown, one('url', 'https://a.example/p', 'https://a.example/p'));
});
