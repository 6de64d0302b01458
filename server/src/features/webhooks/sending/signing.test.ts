import assert from 'node:assert/strict';
import { createPublicKey, verify } from 'node:crypto';
import { describe, test } from 'node:test';
import { verifyWebhook, WebhookVerificationError } from '@reelfeed/client/server';
import { Webhook } from 'standardwebhooks';
import {
  newSecret,
  partsOf,
  publicKeyOf,
  signingKey,
  withSigningKey,
} from '../endpoints/signing-keys.ts';
import {
  serviceSignature,
  signedHeaders,
  standardSignature,
  type SignedMessage,
} from './signing.ts';

describe('published and computed vectors', () => {
  const plain = "It's a Secret to Everybody";
  for (const [secret, timestamp, body, hex] of [
    [
      plain,
      '1614265330',
      '{"test": 2432232314}',
      '535d8497d859c07ff9680d86abba5699ebc7378ff8fa0443f98861d0826821f7',
    ],
    [
      plain,
      '1614265330',
      '{"name":"Zoë 🚀"}',
      '84077c1c89891efb7b98446541307de823fe3b82f8bd3f79cd22958a0615af9f',
    ],
    [
      plain,
      '1700000000',
      'Hello, World!',
      '76c83fd0acdf22faed320674fe8e04d528cfe8a17905e720a9611e40677c03b7',
    ],
    [
      'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
      '1614265330',
      '{"test": 2432232314}',
      '2e37df5d4a028c51a7f3133d64ae1e300d2c2c900f1b1d49d4369ad2530f8964',
    ],
  ] as const) {
    test(`the service's signature of ${body}`, () => {
      const signature = serviceSignature(signingKey(secret), `${timestamp}.${body}`);
      assert.equal(signature, `sha256=${hex}`);
    });
  }

  test('the signature of Standard Webhooks', () => {
    const key = signingKey('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw');
    const payload = 'msg_p5jXN8AQM9LWM0D4loKWxJek.1614265330.{"test": 2432232314}';
    assert.equal(
      standardSignature(key, payload),
      'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    );
  });
});

const secret = newSecret();
const message = (sentAtMs = Date.now()): SignedMessage => ({
  webhookId: 'whk_1',
  deliveryId: 'dlv_1',
  attempt: 2,
  timestamp: '2026-01-31T12:00:00.000Z',
  body: '{"event":"content.ready","data":{"title":"Zoë 🚀"},"timestamp":"x","webhookId":"whk_1"}',
  sentAtMs,
});
const sign = (sentAtMs?: number, secrets: string[] = [secret]) => {
  const [current, ...previous] = secrets.map(signingKey);
  assert.ok(current !== undefined);
  return signedHeaders(message(sentAtMs), { current, previous });
};
const { body } = message();
const refuses = (given: () => unknown, said: RegExp) =>
  assert.throws(
    given,
    (error) => error instanceof WebhookVerificationError && said.test(error.message),
  );

test('a message names its webhook, delivery, attempt and times, and whether it is a test', () => {
  const key = signingKey(secret);
  const sentAtMs = 1_700_000_000_999;
  const payload = `dlv_1.1700000000.${body}`;
  const expected = {
    'content-type': 'application/json',
    'x-service-signature': serviceSignature(key, `2026-01-31T12:00:00.000Z.${body}`),
    'x-service-timestamp': '2026-01-31T12:00:00.000Z',
    'x-service-webhook-id': 'whk_1',
    'x-service-delivery-id': 'dlv_1',
    'x-service-attempt': '2',
    'webhook-id': 'dlv_1',
    'webhook-timestamp': '1700000000',
    'webhook-signature': standardSignature(key, payload),
  };
  const of = (given: Partial<SignedMessage>) => {
    const keys = { current: key, previous: [] };
    const { 'user-agent': agent, ...rest } = signedHeaders(
      { ...message(sentAtMs), ...given },
      keys,
    );
    assert.match(agent ?? '', /./);
    return rest;
  };
  assert.deepEqual(of({}), expected);
  assert.deepEqual(of({ isTest: true }), { ...expected, 'x-service-test': 'true' });
});

describe('verifyWebhook', () => {
  test('accepts text, bytes, fetch headers and capitalized headers, and returns the payload', () => {
    const headers = sign();
    const capitals = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]),
    );
    for (const [given, heads] of [
      [body, headers],
      [Buffer.from(body), new Headers(headers)],
      [new TextEncoder().encode(body), capitals],
    ] as const) {
      const event = verifyWebhook<{ title: string }>(given, heads, secret);
      assert.equal(event.event, 'content.ready');
      assert.equal(event.data.title, 'Zoë 🚀');
      assert.equal(event.deliveryId, 'dlv_1');
    }
    assert.ok(new Webhook(secret).verify(body, headers));
  });

  test('rejects a changed body, time, id or signature, and another secret', () => {
    const headers = sign();
    refuses(() => verifyWebhook(`${body} `, headers, secret), /signature/);
    for (const name of [
      'x-service-timestamp',
      'webhook-id',
      'x-service-signature',
      'webhook-signature',
    ]) {
      refuses(
        () => verifyWebhook(body, { ...headers, [name]: `${headers[name]}0` }, secret),
        /signature/,
      );
      refuses(() => verifyWebhook(body, { ...headers, [name]: undefined }, secret), /missing/);
      refuses(() => verifyWebhook(body, { ...headers, [name]: ['a', 'b'] }, secret), /duplicated/);
    }
    refuses(() => verifyWebhook(body, headers, newSecret()), /signature/);
  });

  test('rejects messages from too long ago or from the future, unless configured otherwise', () => {
    for (const offsetMs of [-301_000, 301_000]) {
      const headers = sign(Date.now() + offsetMs);
      refuses(() => verifyWebhook(body, headers, secret), /too far from the current time/);
      assert.ok(verifyWebhook(body, headers, secret, { toleranceSeconds: 600 }));
    }
    refuses(() => verifyWebhook(body, { ...sign(), 'webhook-timestamp': '1e9' }, secret), /number/);
  });

  test('accepts any of several secrets, and both secrets of a rotation', () => {
    const [next, other] = [newSecret(), newSecret()];
    const rotated = sign(undefined, [next, secret]);
    for (const keys of [secret, next, [other, next], [secret, other]]) {
      assert.ok(verifyWebhook(body, rotated, keys));
    }
    refuses(() => verifyWebhook(body, rotated, [other]), /signature/);
  });

  test('a malformed secret is an error of the caller', () => {
    for (const wrong of ['', 'secret', 'whsec_', [], [secret, '']]) {
      assert.throws(() => verifyWebhook(body, sign(), wrong), TypeError);
    }
  });
});

test('an ed25519 signature matches the public key that is shown', () => {
  const text = withSigningKey(secret);
  assert.deepEqual(partsOf(secret), { secret, privateText: null });
  assert.equal(partsOf(text).secret, secret);
  assert.throws(() => publicKeyOf(secret), /no ed25519 key/);
  const shown = publicKeyOf(text);
  assert.match(shown, /^whpk_[A-Za-z0-9+/]{43}=$/);
  const x = Buffer.from(shown.slice('whpk_'.length), 'base64').toString('base64url');
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  const sent = message(1_700_000_000_999);
  const headers = signedHeaders(sent, { current: signingKey(text), previous: [] });
  const [, signature = ''] = headers['webhook-signature']?.split(' v1a,') ?? [];
  const payload = Buffer.from(`${sent.deliveryId}.1700000000.${sent.body}`);
  assert.equal(headers['webhook-timestamp'], '1700000000');
  assert.equal(verify(null, payload, key, Buffer.from(signature, 'base64')), true);
});
