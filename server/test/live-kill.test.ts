/** kill -9 during a broadcast: the recorded part is kept, and the publisher can reconnect. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generateKey } from '../src/features/keys/key-format.ts';
import { cloneDatabase } from './database.ts';
import { createStream, freePort, publish, type Stream } from './live-publisher.ts';
import { startProcess, type ServiceProcess } from './processes.ts';
import { eventually, send, temporaryFolder, type Call } from './service.ts';

test('a broadcast survives the kill of its service', async () => {
  const connection = await cloneDatabase();
  const dataDir = await temporaryFolder();
  const port = await freePort();
  const secretKey = generateKey('secret');
  const env = { REELFEED_RTMP_PORT: String(port), REELFEED_SECRET_KEY: secretKey };
  const start = () => startProcess(connection, dataDir, env);
  let running: ServiceProcess = await start();
  const service = {
    call: (method: string, path: string, call: Call = {}) =>
      send(`${running.url}${path}`, method, { key: secretKey, ...call }),
  };
  const read = async ({ id }: Stream) =>
    (await service.call('GET', `/v1/live-streams/${id}`)).body.data;
  const hasSegments = (stream: Stream, seconds: number) =>
    eventually(`${seconds} seconds`, async () => {
      const found = await read(stream);
      return found.recordedSeconds >= seconds ? found : null;
    });

  const returning = await createStream(service, { reconnectWindow: 600 });
  const leaving = await createStream(service, { reconnectWindow: 0 });
  const publishing = [
    await publish(port, returning.streamKey),
    await publish(port, leaving.streamKey),
  ];
  for (const stream of [returning, leaving]) await hasSegments(stream, 4);
  await running.kill();
  for (const { publisher } of publishing) await publisher.closed;
  running = await start();

  const before = await read(returning);
  assert.equal(before.status, 'active');
  assert.ok(before.recordedSeconds >= 4);
  const again = await eventually('the key to be free', () =>
    publish(port, returning.streamKey).catch(() => null),
  );
  await hasSegments(returning, before.recordedSeconds + 2);
  await again.end();
  assert.equal((await read(returning)).status, 'active');

  const item = await eventually('the recording of the other one', async () => {
    const { body } = await service.call('GET', `/v1/content/${leaving.contentId}`);
    return body.data.uploadStatus === 'ready' && body.data.duration !== null ? body.data : null;
  });
  const ended = await read(leaving);
  assert.equal(ended.status, 'ended');
  assert.ok(Math.abs(item.duration - ended.recordedSeconds) < 0.3);
});
