/**
 * Tests who may act for a user: signatures with viewer keys, and an organization that requires
 * them.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { createHmac, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { createOrganization, createReadyItems, query } from './seed.ts';
import { eventually, startService } from './service.ts';
import { openStoredEvents } from './stored-events.ts';

const env = { REELFEED_ROLES: 'api,worker', REELFEED_FEED_RANKING_BUDGET: '30s' };
const service = await startService(env);
const second = await startService(env, { beside: service });
const stored = await openStoredEvents(service);
const [id = '', other = ''] = await createReadyItems(service, 2);
const sign = (key: string, userId: string) =>
  createHmac('sha256', key).update(userId).digest('hex');

async function makeKey(name: string) {
  const { status, body, text } = await service.call('POST', '/v1/viewer-keys', { body: { name } });
  assert.equal(status, 201, text);
  return body.data as { id: string; key: string };
}

async function require(requireSignedViewers: boolean) {
  const { body } = await service.call('PATCH', '/v1/organization', {
    body: { requireSignedViewers },
  });
  assert.equal(body.data.requireSignedViewers, requireSignedViewers);
}

/** Sends likes with the publishable key. Returns the response and what was stored. */
async function send(events: readonly Record<string, unknown>[], key = service.publishableKey) {
  const body = { events: events.map((event) => ({ event: 'like', contentId: id, ...event })) };
  const reply = await service.call('POST', '/v1/events/batch', { key, body });
  assert.equal(reply.status, 200, reply.text);
  return { answer: reply.body.data, kept: await stored.fresh() };
}

const key = await makeKey('App server');

test('a key is shown once, listed without its text, encrypted at rest, and bound to its organization', async () => {
  assert.match(key.key, /^rf_vk_[\w-]{43}$/);
  const { body, text } = await service.call('GET', '/v1/viewer-keys');
  assert.deepEqual(body.data[0].name, 'App server');
  assert.equal(body.meta.total, 1);
  assert.ok(!text.includes(key.key));
  const rows = await query(service, 'select * from viewer_signing_key');
  assert.ok(!JSON.stringify(rows).includes(Buffer.from(key.key).toString('hex')));
  const sealed = rows.map((row) => (row['sealed'] as Buffer).toString('latin1')).join();
  assert.ok(sealed !== '' && !sealed.includes(key.key));
  const audit = await service.call('GET', '/v1/audit');
  assert.ok(!audit.text.includes(key.key));
  const stranger = await service.call('DELETE', `/v1/viewer-keys/vky_${'0'.repeat(26)}`);
  assert.equal(stranger.status, 404);
  const forbidden = { key: service.publishableKey };
  assert.equal((await service.call('GET', '/v1/viewer-keys', forbidden)).status, 403);
});

describe('events where signatures are not required', () => {
  test('keep the user id, which is vouched for only with the right signature', async () => {
    const { answer, kept } = await send([
      { eventId: 'open-1', userId: 'ada' },
      { eventId: 'open-2', userId: 'ada', signature: sign(key.key, 'ada') },
      { eventId: 'open-3', userId: 'ada', signature: sign(key.key, 'bob') },
      { eventId: 'open-4', userId: 'ada', signature: 7 },
    ]);
    assert.equal(answer.received, 4);
    assert.deepEqual(answer.unsigned, [
      { index: 2, eventId: 'open-3', reason: 'wrong_signature', countedAs: 'user' },
      { index: 3, eventId: 'open-4', reason: 'wrong_signature', countedAs: 'user' },
    ]);
    assert.deepEqual(
      kept.map(({ userId, vouched }) => [userId, vouched]),
      [
        ['ada', undefined],
        ['ada', true],
        ['ada', undefined],
        ['ada', undefined],
      ],
    );
    assert.ok(!JSON.stringify(kept).includes(sign(key.key, 'ada')), 'no signature is kept');
  });
});

describe('where signatures are required', () => {
  test('unsigned events are stored without their user, and the response says so', async () => {
    await require(true);
    const { answer, kept } = await send([
      { eventId: 'strict-1', userId: 'ada', deviceId: 'phone' },
      { eventId: 'strict-2', userId: 'ada', signature: sign(key.key, 'ada').toUpperCase() },
      { eventId: 'strict-3', userId: 'ada', signature: 'no' },
      { eventId: 'strict-4', deviceId: 'phone' },
    ]);
    assert.equal(answer.received, 4);
    assert.equal(answer.failed, 0);
    assert.deepEqual(answer.unsigned, [
      { index: 0, eventId: 'strict-1', reason: 'no_signature', countedAs: 'anonymous' },
      { index: 2, eventId: 'strict-3', reason: 'wrong_signature', countedAs: 'anonymous' },
    ]);
    assert.deepEqual(
      kept.map(({ userId, deviceId }) => [userId, deviceId]),
      [
        [undefined, 'phone'],
        ['ada', undefined],
        [undefined, undefined],
        [undefined, 'phone'],
      ],
    );
    const body = { event: 'like', contentId: id, eventId: 'strict-5', userId: 'ada' };
    const single = await service.call('POST', '/v1/events', { key: service.publishableKey, body });
    assert.deepEqual(single.body.data.unsigned, {
      reason: 'no_signature',
      countedAs: 'anonymous',
    });
    await stored.fresh();
    const server = await send([{ eventId: 'strict-6', userId: 'ada' }], service.secretKey);
    assert.deepEqual([server.kept[0]?.userId, server.kept[0]?.vouched], ['ada', true]);
  });

  test('a feed is the user’s only with the signature, on every process', async () => {
    await require(true);
    const seen = { event: 'playStart', contentId: id, data: { startupTime: 1 } };
    await send([{ ...seen, eventId: randomUUID(), userId: 'cy', signature: sign(key.key, 'cy') }]);
    const feed = async (headers: Record<string, string>, from = service, search = '') => {
      const options = { key: service.publishableKey, headers };
      const { body } = await from.call('GET', `/v1/feed?limit=1${search}`, options);
      return body.data[0].id as string;
    };
    const user = { 'x-user-id': 'cy' };
    await eventually('the feed of the user', async () => {
      const signed = { ...user, 'x-viewer-signature': sign(key.key, 'cy') };
      const pages = [
        await feed(signed),
        await feed({ 'x-viewer-signature': sign(key.key, 'cy') }, second, '&userId=cy'),
      ];
      return pages.every((one) => one === other) ? true : null;
    });
    const exhausted = async (headers: Record<string, string>) => {
      const options = { key: service.publishableKey, headers };
      const { body } = await service.call('GET', '/v1/feed?limit=2', options);
      return new Set(body.data.map((item: { id: string }) => item.id)).size;
    };
    assert.equal(await exhausted(user), 2, 'both items are new to somebody without a signature');
    const config = await service.call('GET', '/v1/config', {
      key: service.publishableKey,
      headers: { ...user, 'x-viewer-signature': 'wrong' },
    });
    assert.equal(config.status, 200);
  });

  test('after a rotation both keys are valid for a while, and a deletion ends one', async () => {
    await require(true);
    const rotated = await service.call('POST', `/v1/viewer-keys/${key.id}/rotate`, {
      body: { gracePeriod: 3_600 },
    });
    assert.equal(rotated.status, 201, rotated.text);
    const next = rotated.body.data as { id: string; key: string; replaces: string };
    assert.equal(next.replaces, key.id);
    const isBelieved = async (text: string) => {
      const event = { eventId: randomUUID(), userId: 'dee', signature: sign(text, 'dee') };
      return (await send([event])).answer.unsigned === undefined;
    };
    assert.ok(await isBelieved(key.key));
    assert.ok(await isBelieved(next.key));
    assert.equal((await service.call('DELETE', `/v1/viewer-keys/${key.id}`)).status, 200);
    assert.ok(!(await isBelieved(key.key)));
    assert.ok(await isBelieved(next.key));
    await require(false);
  });
});

describe('the likes and saved items of a user', () => {
  type Call = Parameters<typeof service.call>[2];
  const search = `contentIds=${id},${other},${id.toUpperCase()},nothing`;
  const ask = async (viewer: string, call: Call = {}, from = service) =>
    from.call('GET', `/v1/feed/reactions?${search}${viewer}`, {
      key: service.publishableKey,
      ...call,
    });
  const signed = (text: string, userId: string) => ({
    headers: { 'x-viewer-signature': sign(text, userId) },
  });
  const told = async (viewer: string, call: Call, expected: object, from = service) =>
    eventually(`the reactions of ${viewer}`, async () => {
      const { status, body, text } = await ask(viewer, call, from);
      // A process learns of a new key with a short delay.
      if (status === 403) return null;
      assert.equal(status, 200, text);
      return JSON.stringify(body.data) === JSON.stringify(expected) ? true : null;
    });

  test('are the same on every device and process, only for the user', async () => {
    const { key: text } = await makeKey('Likes');
    const fay = { userId: 'fay', deviceId: 'first-phone' };
    await send([
      { ...fay, signature: sign(text, 'fay') },
      { ...fay, event: 'save', contentId: other },
      { userId: 'gil', contentId: other },
      { deviceId: 'tablet', contentId: other },
    ]);
    const likesOne = { likes: [id], saves: [other] };
    await told('&userId=fay', signed(text, 'fay'), likesOne);
    await told('&userId=fay&deviceId=tablet', signed(text, 'fay'), likesOne, second);
    await told('&userId=fay', { key: service.secretKey }, likesOne);
    await told('&deviceId=tablet', {}, { likes: [other], saves: [] });
    await told('&deviceId=first-phone', {}, { likes: [], saves: [] });
    for (const call of [{}, signed(text, 'gil'), { headers: { 'x-viewer-signature': 'no' } }]) {
      const refused = await ask('&userId=fay', call);
      assert.equal(refused.status, 403);
      assert.equal(refused.body.error.code, 'FORBIDDEN');
      assert.ok(!refused.text.includes(id));
    }
    await send([{ ...fay, event: 'unlike', deviceId: 'tablet' }]);
    await told('&userId=fay', signed(text, 'fay'), { likes: [], saves: [other] }, second);
    const erased = await service.call('DELETE', '/v1/users/fay/data');
    assert.ok(erased.status === 202 || erased.status === 200, erased.text);
    await told('&userId=fay', { key: service.secretKey }, { likes: [], saves: [] });
    await told('&userId=gil', { key: service.secretKey }, { likes: [other], saves: [] });
    const others = await createOrganization(service, 'Others');
    const elsewhere = await ask('&userId=gil', { key: others.secretKey });
    assert.deepEqual(elsewhere.body.data, { likes: [], saves: [] });
  });

  test('need a viewer, and limits apply to items', async () => {
    const tooMany = 'a,'.repeat(101);
    for (const search of [`contentIds=${id}`, 'userId=ada', `userId=ada&contentIds=${tooMany}`]) {
      const { status, text } = await service.call('GET', `/v1/feed/reactions?${search}`);
      assert.equal(status, 400, text);
    }
  });
});

describe('the guide signs in four languages', () => {
  // RFC 2104 with SHA-256, computed by OpenSSL:
  // printf %s 'user-42' | openssl dgst -sha256 -hmac 'rf_vk_example'
  const guide = readFileSync(new URL('../../docs/keys.md', import.meta.url), 'utf8');
  const expected = createHmac('sha256', 'rf_vk_example').update('user-42').digest('hex');
  const blocks = new Map(
    Array.from(guide.matchAll(/```(\w+)\n([\s\S]*?)```/g), ([, language = '', code = '']) => [
      language,
      code,
    ]),
  );
  const present = (program: string, flag = '--version') =>
    spawnSync(program, [flag], { stdio: 'ignore' }).status === 0;

  test('with the vector that OpenSSL gives', () => {
    assert.ok(guide.includes(expected), 'the guide shows the vector');
  });

  test('TypeScript', () => {
    const code = `${blocks.get('ts')}\nprocess.stdout.write(signUserId('rf_vk_example', 'user-42'));`;
    const args = [
      '--disable-warning=ExperimentalWarning',
      '--input-type=module-typescript',
      '-e',
      code,
    ];
    assert.equal(execFileSync(process.execPath, args, { encoding: 'utf8' }), expected);
  });

  test('Python', { skip: !present('python3') && 'no Python here' }, () => {
    const code = `${blocks.get('python')}\nprint(sign_user_id("rf_vk_example", "user-42"), end="")`;
    assert.equal(execFileSync('python3', ['-c', code], { encoding: 'utf8' }), expected);
  });

  test('Ruby', { skip: !present('ruby') && 'no Ruby here' }, () => {
    const code = `${blocks.get('ruby')}\nprint sign_user_id("rf_vk_example", "user-42")`;
    assert.equal(execFileSync('ruby', ['-e', code], { encoding: 'utf8' }), expected);
  });

  test('Go is in the guide', () => {
    assert.match(blocks.get('go') ?? '', /hmac\.New\(sha256\.New, \[\]byte\(key\)\)/);
  });
});
