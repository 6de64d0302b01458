/**
 * Proves, with requests generated from the API description, what each kind of key can do: a key
 * without permission is always rejected, a key with permission never causes a server error, and no
 * request shows or changes another organization's data.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createPerson, type TestPerson } from './people/people.ts';
import {
  requestsOf,
  type GeneratedRequest,
  type Kind,
  type Operation,
} from './generated-requests.ts';
import { assertConforms, lenientAjv, readDescription } from './openapi.ts';
import { scaled } from './scale.ts';
import { createItem, createOrganization, query } from './seed.ts';
import { send, startService, type Reply } from './service.ts';

type Ask = (operation: Operation, request: GeneratedRequest) => Promise<Reply>;

const service = await startService();
const api = await readDescription(service.url);
const all: Operation[] = Object.entries<Record<string, Operation>>(api.paths).flatMap(
  ([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      ...operation,
      method: method.toUpperCase(),
      path,
    })),
);
// A stream of events never ends.
const operations = all.filter(({ operationId }) => operationId !== 'streamEvents');
const guarded = operations.filter(({ security }) => security.length > 0);
const isForPages = ({ security }: Operation) => security.some((one) => 'publishableKey' in one);

const mark = 'only for the organization that owns it';
const unknownIds = ['01890000-0000-7000-8000-000000000000', 'key_01kabc5m8nfe8v8q1m2vr5t9zd', 'x'];
const foreign = await createOrganization(service, `Foreign, ${mark}`);

const byKey =
  (key: string | null): Ask =>
  ({ method }, { path, call }) =>
    send(service.url + path, method, { ...call, key });
const byPerson =
  (person: TestPerson): Ask =>
  ({ method }, { path, call }) =>
    person.call(method, path, call);

async function makeKey(fields: object = {}): Promise<{ id: string; key: string }> {
  const body = { type: 'secret', name: 'A key', ...fields };
  const made = await service.call('POST', '/v1/keys', { body });
  assert.equal(made.status, 201, made.text);
  return made.body.data;
}

/** Creates one of each resource that paths refer to, with the given key. */
async function makeThings(key: string): Promise<string[]> {
  const make = async (path: string, body: object): Promise<string> => {
    const made = await service.call('POST', path, { key, body });
    assert.equal(made.status, 201, `${path}: ${made.text}`);
    return made.body.data.id;
  };
  return Promise.all([
    make('/v1/content', { contentType: 'carousel', title: mark }),
    make('/v1/keys', { type: 'publishable', name: mark }),
    make('/v1/viewer-keys', { name: mark }),
    make('/v1/live-streams', { title: mark }),
    make('/v1/ranking/rules', { type: 'boost', match: { tags: [mark] }, factor: 2 }),
  ]);
}

/** Runs one property per operation, and collects the failures after shrinking. */
async function forEach(
  chosen: readonly Operation[],
  { ids, kind, numRuns }: { ids: readonly string[]; kind: Kind; numRuns: number },
  check: (operation: Operation, request: GeneratedRequest) => Promise<void>,
): Promise<void> {
  const wrong: string[] = [];
  for (const operation of chosen) {
    const property = fc.asyncProperty(requestsOf(operation, ids, kind), (request) =>
      check(operation, request),
    );
    const { failed, seed, counterexample, errorInstance } = await fc.check(property, { numRuns });
    const [request] = counterexample ?? [];
    if (failed) {
      const found = `${JSON.stringify(request).slice(0, 500)}: ${String(errorInstance)}`;
      wrong.push(`${operation.operationId}, seed ${seed}, ${found}`);
    }
  }
  assert.deepEqual(wrong, []);
}

const ajv = lenientAjv();
function assertErrorShape(operation: Operation, reply: Reply): void {
  const failure = operation.responses['4XX'];
  assert.ok(failure, 'failures are described');
  assertConforms(ajv, failure, reply, operation.operationId);
}

const own = [...(await makeThings(service.secretKey)), (await createItem(service)).id];
const others = await makeThings(foreign.secretKey);
const expired = await makeKey();
await query(
  service,
  `update api_key set expires_at = clock_timestamp() - interval '1 hour' where api_key_id = $1`,
  [expired.id],
);
const rotated = await makeKey();
const rotation = { body: { gracePeriod: 0 } };
const { status } = await service.call('POST', `/v1/keys/${rotated.id}/rotate`, rotation);
assert.equal(status, 201);
const forAudit = await makeKey({ scopes: ['audit:read'] });
const forOrganization = await makeKey({ scopes: ['organization:read'] });
const viewer = await createPerson(service, 'viewer');

test('a missing, unknown, expired or rotated key is 401, whatever is sent', async () => {
  const keys = [null, 'rf_sk_unknown', expired.key, rotated.key];
  for (const key of keys) {
    await forEach(
      guarded,
      { ids: own, kind: 'hostile', numRuns: scaled(1, 20) },
      async (operation, request) => {
        const reply = await byKey(key)(operation, request);
        assert.equal(reply.status, 401, reply.text);
        assertErrorShape(operation, reply);
      },
    );
  }
});

test('a publishable key, other scopes and a lower role are 403, whatever is sent', async () => {
  const narrow = ({ 'x-scope': scope }: Operation) =>
    byKey(scope === 'audit:read' ? forOrganization.key : forAudit.key);
  const cases: [Operation[], (operation: Operation) => Ask][] = [
    [guarded.filter((one) => !isForPages(one)), () => byKey(service.publishableKey)],
    [guarded, narrow],
    [guarded.filter((one) => one['x-lowest-role'] !== 'viewer'), () => byPerson(viewer)],
  ];
  for (const [chosen, askAs] of cases) {
    assert.ok(chosen.length > 50);
    for (const kind of ['valid', 'hostile'] as const) {
      await forEach(
        chosen,
        { ids: own, kind, numRuns: scaled(1, 20) },
        async (operation, request) => {
          const reply = await askAs(operation)(operation, request);
          assert.equal(reply.status, 403, reply.text);
          assertErrorShape(operation, reply);
        },
      );
    }
  }
});

/** Any request by an authorized caller gets a documented response that contains only its own data. */
async function checkAnswer(ask: Ask, operation: Operation, request: GeneratedRequest) {
  const reply = await ask(operation, request);
  const { responses } = operation;
  const isDescribed = String(reply.status) in responses || /^4\d\d$/.test(String(reply.status));
  assert.ok(isDescribed, `${reply.status}: ${reply.text}`);
  assert.ok(reply.status < 500 || reply.status === 503, `${reply.status}: ${reply.text}`);
  assert.notEqual(reply.status, 401, reply.text);
  if (reply.status >= 400) assertErrorShape(operation, reply);
  assert.ok(!reply.text.includes(mark), `it shows another organization's: ${reply.text}`);
}

const snapshot = async (key: string): Promise<string[]> => {
  const paths = ['content', 'keys', 'viewer-keys', 'live-streams', 'ranking/rules'];
  const answers = await Promise.all(
    paths.map((path) => service.call('GET', `/v1/${path}?limit=100`, { key })),
  );
  return answers.map(({ body, text }) => {
    assert.ok(body?.data, text);
    return JSON.stringify(body.data, (name, value) => (name === 'lastUsedAt' ? null : value));
  });
};

test('a key of another organization sees and changes nothing, by any id', async () => {
  const stranger = await createOrganization(service, 'Stranger');
  const before = await snapshot(foreign.secretKey);
  assert.ok(before.join('').includes(mark));
  const ask = byKey(stranger.secretKey);
  for (const kind of ['valid', 'hostile'] as const) {
    await forEach(
      guarded.filter(({ path }) => path.includes('{')),
      { ids: others, kind, numRuns: scaled(4, 60) },
      (operation, request) => checkAnswer(ask, operation, request),
    );
  }
  assert.deepEqual(await snapshot(foreign.secretKey), before);
});

test('no key, session or body makes the service fail or respond outside the description', async () => {
  const plain = await createOrganization(service, 'Plain');
  const owner = await createPerson(service, 'owner', plain.secretKey);
  const ids = [...unknownIds, ...others];
  const runs: [Ask, Operation[], Kind, number][] = [
    [byKey(plain.secretKey), guarded, 'valid', scaled(4, 60)],
    [byKey(plain.secretKey), guarded, 'hostile', scaled(5, 100)],
    [byPerson(owner), guarded, 'hostile', scaled(2, 50)],
    [byKey(plain.publishableKey), guarded.filter(isForPages), 'hostile', scaled(10, 200)],
    [byKey(null), operations.filter((one) => !guarded.includes(one)), 'hostile', scaled(10, 200)],
  ];
  for (const [ask, chosen, kind, numRuns] of runs) {
    await forEach(chosen, { ids, kind, numRuns }, (operation, request) =>
      checkAnswer(ask, operation, request),
    );
  }
});
