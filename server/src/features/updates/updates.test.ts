/** Update notices: what is requested, how often, with which data, and what is shown. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { atEnd } from '../../../test/database.ts';
import { runCommand } from '../../../test/processes.ts';
import { eventually, fastDatabase, startService, toUrl } from '../../../test/service.ts';
import { version as ownVersion } from '../../version.ts';
import { isNewer, readRelease } from './release.ts';
import { updateUrl } from './updates.ts';

const notesUrl = 'https://example.com/notes/99.0.0';

async function startReceiver(answer: (reply: ServerResponse) => void) {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, reply) => {
    requests.push(request);
    answer(reply);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(() => {
    server.closeAllConnections();
    return new Promise<void>((resolve) => void server.close(() => resolve()));
  });
  const { port } = server.address() as AddressInfo;
  const env = {
    REELFEED_UPDATE_CHECK: `http://127.0.0.1:${port}/latest.json`,
    REELFEED_EGRESS_ALLOW: `127.0.0.1:${port}`,
  };
  return { requests, env };
}

test('a newer version is shown in the console, after one request that discloses nothing', async () => {
  const receiver = await startReceiver((reply) =>
    reply.end(JSON.stringify({ version: '99.0.0', notesUrl })),
  );
  const service = await startService(receiver.env);
  const found = await eventually('the newer version', async () => {
    const { body } = await service.call('GET', '/console/update');
    return body.data as object | null;
  });
  assert.deepEqual(found, { version: '99.0.0', notesUrl, ownVersion });
  // Neither another process nor a restart requests it again on the same day.
  const second = await startService(receiver.env, { beside: service });
  assert.deepEqual((await second.call('GET', '/console/update')).body.data, found);
  assert.equal((await second.call('GET', '/console/update', { key: null })).status, 401);
  const { stdout } = await runCommand(['doctor', '--json'], {
    env: {
      ...receiver.env,
      ...fastDatabase,
      PORT: '0',
      DATABASE_URL: toUrl(service.connection),
      REELFEED_DATA_DIR: service.dataDir,
    },
  });
  const { findings } = JSON.parse(stdout) as { findings: { subject: string }[] };
  assert.deepEqual(
    findings.filter(({ subject }) => subject === 'Version'),
    [
      {
        subject: 'Version',
        state: 'note',
        detail: `99.0.0 is available; this is ${ownVersion}`,
        mend: `Read ${notesUrl}, then update.`,
      },
    ],
  );
  assert.equal(receiver.requests.length, 1);
  const [asked] = receiver.requests;
  assert.equal(asked?.url, '/latest.json');
  assert.deepEqual(
    Object.keys(asked?.headers ?? {}).filter((name) => !['host', 'connection'].includes(name)),
    ['accept-encoding'],
  );
});

test('nobody is asked where it is off, which is the default', async () => {
  const service = await startService();
  assert.equal((await service.call('GET', '/console/update')).body.data, null);
  assert.deepEqual(updateUrl()('off'), { value: null });
});

test('an answer that is wrong, large, late or refused changes nothing and stops nothing', async () => {
  const answers: ((reply: ServerResponse) => void)[] = [
    (reply) => reply.end('no JSON'),
    (reply) => reply.end(JSON.stringify({ version: '<script>' })),
    (reply) => reply.end(JSON.stringify({ version: '99.0.0', padding: 'x'.repeat(20_000) })),
    (reply) => reply.writeHead(302, { location: 'http://127.0.0.1/other' }).end(),
    (reply) => reply.destroy(),
  ];
  for (const answer of answers) {
    const receiver = await startReceiver(answer);
    await using service = await startService(receiver.env);
    await eventually('the request', async () => (receiver.requests.length > 0 ? true : null));
    assert.equal((await service.call('GET', '/console/update')).body.data, null);
    assert.equal((await service.call('GET', '/readyz', { key: null })).status, 200);
  }
});

test('an address inside is not asked unless the operator allows it', async () => {
  const receiver = await startReceiver((reply) => reply.end(JSON.stringify({ version: '99.0.0' })));
  const { REELFEED_UPDATE_CHECK } = receiver.env;
  const service = await startService({ REELFEED_UPDATE_CHECK, REELFEED_EGRESS_ALLOW: '' });
  await eventually('the refusal', async () => {
    const { text } = await service.call('GET', '/metrics', { key: null });
    return /^egress_blocked_total [1-9]/m.test(text) ? true : null;
  });
  assert.equal(receiver.requests.length, 0);
  assert.equal((await service.call('GET', '/console/update')).body.data, null);
});

test('versions are compared by their numbers, and a link is a web address', () => {
  const cases: [string, string, boolean][] = [
    ['0.1.1', '0.1.0', true],
    ['0.10.0', '0.9.9', true],
    ['1.0.0', '0.99.99', true],
    ['0.1.0', '0.1.0', false],
    ['0.0.9', '0.1.0', false],
    ['0.1.0', '0.1.0-beta.1', true],
    ['0.2.0-beta', '0.1.0', false],
  ];
  for (const [found, own, expected] of cases) {
    assert.equal(isNewer(found, own), expected, `${found} after ${own}`);
  }
  const read = (told: object) => readRelease(Buffer.from(JSON.stringify(told)));
  assert.equal(read({ version: '1.2.3', notesUrl: 'javascript:alert(1)' }).notesUrl, null);
  assert.equal(read({ version: '1.2.3', notesUrl }).notesUrl, notesUrl);
  assert.throws(() => read({ version: '1.2' }), /not a version/);
  for (const wrong of [
    'http://example.com/a',
    'on',
    'ftp://example.com',
    'https://a:b@c.example',
  ]) {
    assert.ok('problem' in updateUrl()(wrong), wrong);
  }
});
