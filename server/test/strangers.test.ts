/**
 * Tests how requests identified only by address are rate-limited, and whose forwarding headers are
 * trusted.
 */
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { createPerson } from './people/people.ts';
import { eventually, startService, type TestService } from './service.ts';

const proxy = '127.0.0.9';
const env = {
  REELFEED_TRUSTED_PROXIES: proxy,
  REELFEED_ADDRESS_LIMIT_PAGES: '5',
  REELFEED_ADDRESS_LIMIT_VIEWERS: '3',
  REELFEED_ADDRESS_LIMIT_MEDIA: '7',
  REELFEED_SIGN_IN_LIMIT: '3',
};
const service = await startService(env);
const second = await startService(env, { beside: service });

type Answer = { status: number; headers: NodeJS.Dict<string | string[]>; text: string };
type From = {
  /** The source address of the connection. */
  peer: string;
  told?: string;
  key?: string;
  at?: TestService;
  body?: object;
};

/** Sends a request from one of the loopback addresses. */
async function ask(path: string, { peer, told, key, at = service, body }: From): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const headers = {
    'x-reelfeed-console': '1',
    ...(told !== undefined && { 'x-forwarded-for': told }),
    ...(key !== undefined && { authorization: `Bearer ${key}` }),
    ...(body !== undefined && { 'content-type': 'application/json' }),
  };
  const method = body === undefined ? 'GET' : 'POST';
  const sent = request(at.url + path, { method, headers, localAddress: peer }, (answer) => {
    let text = '';
    answer.setEncoding('utf8').on('data', (part: string) => (text += part));
    answer.on('end', () =>
      resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }),
    );
  });
  sent.on('error', reject);
  sent.end(body === undefined ? undefined : JSON.stringify(body));
  return promise;
}

async function statuses(count: number, path: string, from: From): Promise<number[]> {
  const answers = await Promise.all(Array.from({ length: count }, () => ask(path, from)));
  return answers.map(({ status }) => status).toSorted((a, b) => a - b);
}

test('a page passes as often as the limit says, and another address does not notice', async () => {
  const attacker = { peer: '127.0.1.1' };
  assert.deepEqual(await statuses(8, '/console/', attacker), [
    ...Array<number>(5).fill(200),
    ...Array<number>(3).fill(429),
  ]);
  const refused = await ask('/console/', attacker);
  assert.equal(refused.status, 429);
  const { error } = JSON.parse(refused.text) as { error: { code: string; message: string } };
  assert.equal(error.code, 'RATE_LIMITED');
  assert.match(error.message, /^Each address is limited to 5 such requests in 60 seconds\.$/);
  const retryAfter = Number(refused.headers['retry-after']);
  assert.ok(retryAfter >= 50 && retryAfter <= 66, `${retryAfter} seconds`);
  assert.equal((await ask('/docs/', attacker)).status, 429, 'all pages count together');
  assert.equal((await ask('/console/', { peer: '127.0.1.2' })).status, 200);
  for (const path of ['/healthz', '/readyz', '/metrics']) {
    assert.deepEqual(await statuses(8, path, attacker), Array<number>(8).fill(200), path);
  }
});

test('kinds count apart, and a secret key or a session is not limited by address', async () => {
  const peer = '127.0.2.1';
  const key = service.publishableKey;
  assert.deepEqual(await statuses(5, '/v1/feed', { peer, key }), [200, 200, 200, 429, 429]);
  const media = '/media/01890000-0000-7000-8000-000000000000/master.m3u8';
  const files = await statuses(9, media, { peer });
  assert.deepEqual([files.filter((one) => one === 429).length, files[0]], [2, 404]);
  const refused = await ask(media, { peer });
  assert.equal(refused.headers['access-control-allow-origin'], '*');
  const bySecret = await statuses(12, '/v1/content', { peer, key: service.secretKey });
  assert.deepEqual(bySecret, Array<number>(12).fill(200));
  assert.equal((await ask('/console/', { peer })).status, 200);
  await eventually('the refusals in the metrics', async () => {
    const { text } = await service.call('GET', '/metrics', { key: null });
    const counts = ['viewers', 'media'].map(
      (kind) =>
        new RegExp(`^address_limited_requests_total\\{kind="${kind}"\\} (\\d+)`, 'm').exec(
          text,
        )?.[1],
    );
    return isDeepStrictEqual(counts, ['2', '3']) ? true : null;
  });
});

test('a forged header of an untrusted peer is ignored, and that of a trusted proxy is used', async () => {
  const forged = await Promise.all(
    Array.from({ length: 8 }, (_, index) =>
      ask('/console/', { peer: '127.0.3.1', told: `203.0.113.${index}` }),
    ),
  );
  assert.equal(forged.filter(({ status }) => status === 429).length, 3);
  const told = await Promise.all(
    Array.from({ length: 8 }, (_, index) =>
      ask('/console/', { peer: proxy, told: `6.6.6.6, 203.0.113.${index}` }),
    ),
  );
  assert.deepEqual(new Set(told.map(({ status }) => status)), new Set([200]));
  // Addresses that the client itself added are ignored.
  const one = await Promise.all(
    Array.from({ length: 8 }, (_, index) =>
      ask('/console/', { peer: proxy, told: `198.51.100.${index}, 203.0.113.200` }),
    ),
  );
  assert.equal(one.filter(({ status }) => status === 429).length, 3);
});

test('sign-in attempts count by the same address, exactly across two processes', async () => {
  const attempt = (index: number, from: From) =>
    ask('/console/account/sign-in', {
      ...from,
      at: index % 2 === 0 ? service : second,
      body: { email: `nobody-${index}@example.com`, password: 'wrong' },
    });
  const forged = await Promise.all(
    Array.from({ length: 6 }, (_, index) =>
      attempt(index, { peer: '127.0.4.1', told: `203.0.113.${index}` }),
    ),
  );
  assert.deepEqual(forged.map(({ status }) => status).toSorted(), [401, 401, 401, 429, 429, 429]);
  const told = await Promise.all(
    Array.from({ length: 6 }, (_, index) =>
      attempt(index, { peer: proxy, told: `198.51.100.${index}` }),
    ),
  );
  assert.deepEqual(new Set(told.map(({ status }) => status)), new Set([401]));
});

test('a session has the address of the client, not of the proxy', async () => {
  const person = await createPerson(second, 'owner');
  const listed = async (): Promise<{ address: string }[]> =>
    (await person.call('GET', '/console/account/sessions')).body.data;
  assert.deepEqual(
    (await listed()).map(({ address }) => address),
    ['127.0.0.1'],
  );
  const signedIn = await ask('/console/account/sign-in', {
    peer: proxy,
    told: '2606:4700::7',
    at: second,
    body: { email: person.email, password: 'four random words here' },
  });
  assert.equal(signedIn.status, 200);
  assert.ok((await listed()).some(({ address }) => address === '2606:4700::7'));
});
