/** Proves that a broadcast is forwarded to other servers, which can't harm it or anyone else. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { test } from 'node:test';
import { createStream, freePort, publish, type Stream } from './live-publisher.ts';
import { query } from './seed.ts';
import { eventually, startService } from './service.ts';

const port = await freePort();
const service = await startService({
  REELFEED_RTMP_PORT: String(port),
  REELFEED_EGRESS_ALLOW: '127.0.0.1',
});
const ownUrl = `rtmp://127.0.0.1:${port}/live`;

async function read({ id }: Stream) {
  return (await service.call('GET', `/v1/live-streams/${id}`)).body.data;
}

const targetsOf = (stream: Stream, status: string) =>
  eventually(`a target that is ${status}`, async () => {
    const { simulcastTargets } = await read(stream);
    return simulcastTargets[0]?.status === status ? simulcastTargets : null;
  });

const addTarget = (stream: Stream, body: object) =>
  service.call('POST', `/v1/live-streams/${stream.id}/simulcast-targets`, { body });

test('a broadcast reaches another server, until its target is removed', async () => {
  const other = await createStream(service, { title: 'Elsewhere', reconnectWindow: 600 });
  const simulcastTargets = [{ url: ownUrl, streamKey: other.streamKey, name: 'Elsewhere' }];
  const made = await service.call('POST', '/v1/live-streams', {
    body: { title: 'A broadcast', simulcastTargets },
  });
  assert.equal(made.status, 201, made.text);
  assert.ok(!made.text.includes(other.streamKey));
  const stream: Stream = made.body.data;
  const [idle] = (await read(stream)).simulcastTargets;
  assert.equal(idle.status, 'idle');
  assert.equal(idle.keyEnd, other.streamKey.slice(-4));
  await using publishing = await publish(port, stream.streamKey, 2);
  const [target] = await targetsOf(stream, 'sending');
  await eventually('the other broadcast', async () =>
    (await read(other)).recordedSeconds >= 4 ? true : null,
  );
  const path = `/v1/live-streams/${stream.id}/simulcast-targets/${target.id}`;
  assert.equal((await service.call('DELETE', path)).status, 200);
  await eventually('the other server to be left', async () =>
    (await read(other)).isConnected ? null : true,
  );
  assert.equal((await read(stream)).isConnected, true);
  await publishing.end();
  const entries = await query(
    service,
    'select row_to_json(entry)::text as text from audit_entry entry',
  );
  assert.ok(entries.length > 0);
  assert.ok(entries.every(({ text }) => !String(text).includes(other.streamKey)));
});

test('a hanging target fails with a message, and the broadcast continues', async () => {
  const sockets: Socket[] = [];
  const silent = createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port: silentPort } = silent.address() as AddressInfo;
  const stream = await createStream(service);
  await using publishing = await publish(port, stream.streamKey, 1);
  await eventually('the broadcast', async () =>
    (await read(stream)).status === 'active' ? true : null,
  );
  const made = await addTarget(stream, {
    url: `rtmp://127.0.0.1:${silentPort}/live`,
    streamKey: 'short',
  });
  assert.equal(made.status, 201, made.text);
  assert.equal(made.body.data.name, '127.0.0.1');
  assert.equal(made.body.data.keyEnd, '');
  const [failed] = await targetsOf(stream, 'failed');
  assert.equal(failed.message, 'The server does not respond.');
  const { recordedSeconds } = await read(stream);
  await eventually('the broadcast to go on', async () =>
    (await read(stream)).recordedSeconds > recordedSeconds ? true : null,
  );
  await publishing.end();
  for (const socket of sockets) socket.destroy();
  silent.close();
});

test('rejected requests', async () => {
  const stream = await createStream(service);
  for (const [url, reason] of [
    ['rtmp://10.1.2.3/live', /does not resolve to a public address/],
    ['https://example.com/live', /must start with rtmp:\/\/ or rtmps:\/\//],
    ['rtmp://user:secret@127.0.0.1/live', /user name or password/],
    [`${ownUrl}?token=secret`, /must not have a query string/],
  ] as const) {
    const refused = await addTarget(stream, { url, streamKey: 'a-key' });
    assert.equal(refused.status, 400, url);
    assert.match(refused.body.error.message, reason);
  }
  for (let count = 0; count < 5; count += 1) {
    assert.equal((await addTarget(stream, { url: ownUrl, streamKey: 'a-key' })).status, 201);
  }
  assert.equal((await addTarget(stream, { url: ownUrl, streamKey: 'a-key' })).status, 409);
  const unknown = `/v1/live-streams/${stream.id}/simulcast-targets/sct_none`;
  assert.equal((await service.call('DELETE', unknown)).status, 404);
  await service.call('POST', `/v1/live-streams/${stream.id}/end`);
});
