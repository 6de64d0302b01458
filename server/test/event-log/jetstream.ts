/** Streams for tests, on the local NATS server. */
import { randomUUID } from 'node:crypto';
import { after } from 'node:test';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { silentLog } from '../database.ts';
import { openJetStream } from '../../src/platform/event-log/jetstream/jetstream-stream.ts';
import type { StreamUrl } from '../../src/platform/event-log/jetstream/stream-url.ts';

export const sharedServer = '127.0.0.1:4222';

export async function isJetStreamThere(): Promise<boolean> {
  try {
    const connection = await connect({ servers: [sharedServer], timeout: 1_000 });
    await jetstreamManager(connection);
    await connection.close();
    return true;
  } catch {
    return false;
  }
}

export function streamUrlOf(stream: string, servers = [sharedServer]): StreamUrl {
  return { servers, isEncrypted: false, user: null, password: null, stream, replicas: null };
}

/** Creates a separate stream, which is deleted at the end of the test file. */
export async function openTestStream() {
  const name = `TEST_${randomUUID().slice(0, 8)}`;
  const connection = await connect({ servers: [sharedServer] });
  const manager = await jetstreamManager(connection);
  const stream = await openJetStream(streamUrlOf(name), silentLog);
  after(async () => {
    await stream[Symbol.asyncDispose]();
    await manager.streams.delete(name).catch(() => undefined);
    await connection.close();
  });
  return { name, manager, stream };
}
