import assert from 'node:assert/strict';
import { test } from 'node:test';
import { streamUrl } from './stream-url.ts';

const parse = streamUrl();

test('the log is in PostgreSQL unless a stream is named', () => {
  for (const raw of ['', 'postgres']) assert.deepEqual(parse(raw), { value: null });
});

test('a stream is named by servers, credentials, name and replicas', () => {
  assert.deepEqual(parse('nats://nats:4222'), {
    value: {
      servers: ['nats:4222'],
      isEncrypted: false,
      user: null,
      password: null,
      stream: 'REELFEED_EVENTS',
      replicas: null,
    },
  });
  assert.deepEqual(parse('tls://rf:p%40ss@one:4222,[::1]:4223/EVENTS?replicas=3'), {
    value: {
      servers: ['one:4222', '[::1]:4223'],
      isEncrypted: true,
      user: 'rf',
      password: 'p@ss',
      stream: 'EVENTS',
      replicas: 3,
    },
  });
});

test('anything else is refused with what is expected', () => {
  const wrong = [
    'nats://',
    'http://nats',
    'nats://a b',
    'nats://a/B.C',
    'nats://a?replicas=2',
    'x',
  ];
  for (const raw of [...wrong, 'nats://%zz:p@a']) {
    const parsed = parse(raw);
    assert.ok('problem' in parsed && parsed.problem.includes('nats://'), raw);
  }
});
