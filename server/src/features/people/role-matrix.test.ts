/**
 * The permission matrix: every API operation × every role × a foreign organization. A role below
 * the declared one is rejected before anything about the resource is revealed, a sufficient role is
 * not rejected, and an id of another organization is treated like an unknown one.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isAtLeast, roles, type Role } from '../../platform/http/roles.ts';
import { createOrganization } from '../../../test/seed.ts';
import { startService, type Reply } from '../../../test/service.ts';
import { createPerson, type TestPerson } from '../../../test/people/people.ts';
import { lowestRoles } from './roles.ts';

type Operation = {
  id: string;
  method: string;
  path: string;
  lowest: Role | undefined;
  scope: string | null;
};
type Described = { operationId: string; 'x-lowest-role'?: Role; 'x-scope'?: string | null };

const service = await startService();
const { body: api } = await service.call('GET', '/openapi.json', { key: null });
const operations: Operation[] = Object.entries(
  api.paths as Record<string, Record<string, Described>>,
).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, described]) => ({
    id: described.operationId,
    method: method.toUpperCase(),
    path,
    lowest: described['x-lowest-role'],
    scope: described['x-scope'] ?? null,
  })),
);
const guarded = operations.filter(({ lowest }) => lowest !== undefined);

const people = new Map<Role, TestPerson>();
for (const role of roles) people.set(role, await createPerson(service, role));

/** Ids of the other organization's resources by the first path segment. */
const foreign = await createOrganization(service, 'The other');
async function make(path: string, body: object): Promise<string> {
  const made = await service.call('POST', path, { key: foreign.secretKey, body });
  assert.equal(made.status, 201, `${path}: ${made.text}`);
  return made.body.data.id;
}
const secret = 'only for the other organization';
const foreignIds: Record<string, string> = {
  content: await make('/v1/content', { contentType: 'carousel', title: secret }),
  keys: await make('/v1/keys', { type: 'publishable', name: secret }),
  'viewer-keys': await make('/v1/viewer-keys', { name: secret }),
  'live-streams': await make('/v1/live-streams', { title: secret }),
  people: await make('/v1/people/invitations', { email: 'they@example.com', role: 'viewer' }),
};
const unknownIds: Record<string, string> = {
  content: '01890000-0000-7000-8000-000000000000',
  keys: 'key_01kabc5m8nfe8v8q1m2vr5t9zd',
  'viewer-keys': 'vky_01kabc5m8nfe8v8q1m2vr5t9zd',
  'live-streams': 'lst_01kabc5m8nfe8v8q1m2vr5t9zd',
  people: 'inv_01kabc5m8nfe8v8q1m2vr5t9zd',
};

/** The path with every parameter replaced by an id. */
function withId(path: string, ids: Record<string, string>): string {
  const area = path.split('/')[2] ?? '';
  return path.replaceAll(/\{\w+\}/g, ids[area] ?? 'nothing_like_this');
}

/** Sends a body that no operation accepts, so even permitted requests change nothing. */
const ask = (by: TestPerson, { method, path }: Operation, ids = unknownIds): Promise<Reply> =>
  by.call(method, withId(path, ids), {
    ...(method === 'POST' || method === 'PUT' || method === 'PATCH'
      ? { body: { 'no such field': true } }
      : {}),
  });

test('every operation with a key declares the lowest role, and every scope has one', () => {
  assert.ok(guarded.length > 140, `${guarded.length} operations`);
  const scopes = new Set(guarded.map(({ scope }) => scope));
  assert.deepEqual(
    [...scopes].filter((scope) => scope === null || !(scope in lowestRoles)),
    [],
  );
  const unguarded = operations.filter(({ lowest }) => lowest === undefined).map(({ id }) => id);
  assert.deepEqual(unguarded, ['putUploadBytes']);
});

test('each role calls exactly the operations that it may', async () => {
  const wrong: string[] = [];
  for (const operation of guarded) {
    // An event stream never ends.
    if (operation.id === 'streamEvents') continue;
    for (const [role, person] of people) {
      const { status, body } = await ask(person, operation);
      const may = isAtLeast(role, operation.lowest ?? 'owner');
      const isRefused = status === 403 && body.error.code === 'FORBIDDEN';
      if (status === 401 || isRefused === may || status >= 500) {
        wrong.push(`${role} ${operation.id}: ${status}, may: ${may}`);
      }
    }
  }
  assert.deepEqual(wrong, []);
});

test('an id of another organization answers like an unknown one, to every role', async () => {
  const wrong: string[] = [];
  const owner = people.get('owner');
  assert.ok(owner);
  for (const operation of guarded) {
    const [, , area = ''] = operation.path.split('/');
    if (!operation.path.includes('{') || !(area in foreignIds)) continue;
    const [unknown, other] = [await ask(owner, operation), await ask(owner, operation, foreignIds)];
    const isEqual =
      unknown.status === other.status &&
      JSON.stringify(unknown.body.error ?? null) === JSON.stringify(other.body.error ?? null);
    if (!isEqual || other.text.includes(secret)) {
      wrong.push(
        `${operation.id}: ${unknown.status} ${unknown.text} ${other.status} ${other.text}`,
      );
    }
  }
  assert.deepEqual(wrong, []);
  // The other organization's data is unchanged and in no list.
  const kept = await service.call('GET', `/v1/content/${foreignIds['content']}`, {
    key: foreign.secretKey,
  });
  assert.equal(kept.body.data.title, secret);
  for (const operation of guarded) {
    if (operation.method !== 'GET' || operation.path.includes('{')) continue;
    if (operation.id === 'streamEvents') continue;
    const { text } = await ask(owner, operation);
    assert.equal(text.includes(secret), false, operation.id);
    assert.equal(text.includes('they@example.com'), false, operation.id);
  }
});
