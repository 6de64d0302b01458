/** The service with event bytes in JetStream: an erasure, a backup, and a restore without it. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { isJetStreamThere, openTestStream, sharedServer } from './event-log/jetstream.ts';
import { blockText } from '../src/platform/event-log/block-codec.ts';
import { createFirstItem } from './event-journal.ts';
import { sampleEvent } from './event-samples.ts';
import { ready, runCommand, startMain, type RunningProcess } from './processes.ts';
import { send, temporaryFolder } from './service.ts';
import { until } from './waiting.ts';

const options = {
  skip: (await isJetStreamThere()) ? false : `needs NATS with JetStream at ${sharedServer}`,
};

const folder = await temporaryFolder();
const envOf = (name: string) => ({
  PORT: '0',
  REELFEED_DATA_DIR: path.join(folder, name),
  REELFEED_MIN_FREE_BYTES: '0',
  REELFEED_LOG_LEVEL: 'error',
});

const likesOf = async (url: string, key: string) => {
  const { body } = await send(`${url}/v1/analytics/overview`, 'GET', { key });
  return body.data.summary.likes as number;
};

async function stop({ child, ended }: RunningProcess): Promise<void> {
  child.kill('SIGTERM');
  const { code, stderr } = await ended;
  assert.equal(code, 0, stderr);
}

test(
  'an erasure reaches the stream, and a backup restores the events without it',
  options,
  async () => {
    const { name, manager } = await openTestStream();
    const env = { ...envOf('original'), REELFEED_EVENT_LOG: `nats://${sharedServer}/${name}` };
    const running = startMain({ env });
    const url = await ready(running);
    const { stdout: output } = running.output;
    const { key, contentId } = await createFirstItem({ url, output });
    const secretKey = /(rf_sk_\w+)/.exec(output)?.[1] ?? '';
    const like = (userId: string) => ({ ...sampleEvent('like', contentId), userId });
    for (const userIds of [['ada', 'bob'], ['bob'], ['ada', 'cy']]) {
      const sent = await send(`${url}/v1/events/batch`, 'POST', {
        key,
        body: { events: userIds.map(like) },
      });
      assert.equal(sent.status, 200);
    }
    const texts = async () => {
      const { first_seq: first, last_seq: last } = (await manager.streams.info(name)).state;
      const found: string[] = [];
      for (let seq = first; seq <= last; seq += 1) {
        const message = await manager.streams.getMessage(name, { seq }).catch(() => null);
        if (message !== null) found.push(blockText(message.data));
      }
      return found.join();
    };
    assert.match(await texts(), /"bob"/);
    assert.equal(
      (await send(`${url}/v1/users/bob/data`, 'DELETE', { key: secretKey })).status,
      200,
    );
    await until(
      'the viewer to be erased',
      async () => {
        const { body } = await send(`${url}/v1/users/bob/data`, 'GET', { key: secretKey });
        return body.data.status as string;
      },
      (status) => status === 'complete',
    );
    const left = await texts();
    assert.doesNotMatch(left, /"bob"/);
    assert.match(left, /"ada"/);
    // Counters keep an erased viewer's activity until a rebuild, which reads the stream.
    const again = await runCommand(['rebuild', 'all'], { env });
    assert.equal(again.code, 0, again.stderr);
    assert.equal(await likesOf(url, secretKey), 3);

    const copy = path.join(folder, 'backup');
    const made = await runCommand(['backup', copy, '--include-key'], { env });
    assert.equal(made.code, 0, made.stderr);
    await stop(running);
    const restored = await runCommand(['restore', copy], { env: envOf('restored') });
    assert.equal(restored.code, 0, restored.stderr);
    const rebuilt = await runCommand(['rebuild', 'all'], { env: envOf('restored') });
    assert.equal(rebuilt.code, 0, rebuilt.stderr);
    const twin = startMain({ env: envOf('restored') });
    const twinUrl = await ready(twin);
    assert.equal(await likesOf(twinUrl, secretKey), 3);
    await stop(twin);
  },
);
