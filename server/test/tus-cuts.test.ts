/** Proves that a resumable upload survives a disconnection after any byte. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import path from 'node:path';
import { test } from 'node:test';
import { local, sampleBytes } from './media.ts';
import { createItem, query } from './seed.ts';
import { eventually, startService } from './service.ts';

// Without processing: what arrives is compared as stored.
const service = await startService({ REELFEED_ROLES: 'api' });
const clip = await sampleBytes('faststart.mp4');
const tus = { 'tus-resumable': '1.0.0' };
const media = path.join(service.dataDir, 'media');

type Target = { id: string; url: string; bytes: Buffer };

async function open(bytes: Buffer): Promise<Target> {
  const { id, uploadUrl } = await createItem(service);
  const url = local(service, uploadUrl);
  const headers = { ...tus, 'upload-length': String(bytes.length) };
  assert.equal((await fetch(url, { method: 'POST', headers })).status, 201);
  return { id, url, bytes };
}

/** The head of a PATCH that declares all bytes from `offset`. */
function headOf({ url, bytes }: Target, offset: number): Buffer {
  return Buffer.from(
    [
      `PATCH ${new URL(url).pathname} HTTP/1.1`,
      'host: localhost',
      'tus-resumable: 1.0.0',
      `upload-offset: ${offset}`,
      'content-type: application/offset+octet-stream',
      `content-length: ${bytes.length - offset}\r\n\r\n`,
    ].join('\r\n'),
  );
}

async function offsetOf({ url }: Target): Promise<number> {
  const answer = await fetch(url, { method: 'HEAD', headers: tus });
  assert.equal(answer.status, 200);
  return Number(answer.headers.get('upload-offset'));
}

/** Sends raw bytes and closes the connection once `isReady` holds. */
async function sendAndHangUp(bytes: Buffer, isReady?: () => Promise<boolean>): Promise<void> {
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
  socket.on('error', () => undefined).resume();
  const closed = once(socket, 'close');
  socket.write(bytes);
  if (isReady !== undefined) {
    await eventually('the body to be read', async () => ((await isReady()) ? true : null));
  }
  socket.end();
  await closed;
}

/** Returns a function that checks whether another request has started to write the upload. */
async function nextWriter({ id }: Target): Promise<() => Promise<boolean>> {
  const writer = async () => {
    const sql = 'select writer from upload_session where content_id = $1';
    return (await query(service, sql, [id]))[0]?.['writer'];
  };
  const before = await writer();
  return async () => (await writer()) !== before;
}

/** Sends the missing rest from the service's offset, like a client. */
async function finish(target: Target): Promise<void> {
  const status = await eventually('the rest to be taken', async () => {
    const offset = await offsetOf(target);
    const body = new Uint8Array(target.bytes.subarray(offset));
    const answer = await fetch(target.url, {
      method: 'PATCH',
      headers: {
        ...tus,
        'upload-offset': String(offset),
        'content-type': 'application/offset+octet-stream',
      },
      body,
    });
    // The interrupted part may be counted only now.
    return answer.status === 409 ? null : answer.status;
  });
  assert.equal(status, 204);
  const [row] = await query(service, 'select source_key from content where content_id = $1', [
    target.id,
  ]);
  const stored = await readFile(path.join(media, 'objects', String(row?.['source_key'])));
  assert.ok(stored.equals(target.bytes), 'the stored bytes are those that were sent');
}

test('a disconnection after any byte of the headers changes nothing', async () => {
  const target = await open(clip.subarray(0, 100));
  const head = headOf(target, 0);
  await Promise.all(Array.from(head, (_, length) => sendAndHangUp(head.subarray(0, length))));
  assert.equal(await offsetOf(target), 0);
  await finish(target);
});

test('a disconnection after any byte of the body keeps everything received', async () => {
  const target = await open(clip.subarray(0, 40));
  for (let offset = 0; offset < target.bytes.length - 1; offset += 1) {
    const next = target.bytes.subarray(offset, offset + 1);
    const isReceiving = await nextWriter(target);
    await sendAndHangUp(Buffer.concat([headOf(target, offset), next]), isReceiving);
    await eventually(`${offset + 1} bytes to count`, async () =>
      (await offsetOf(target)) === offset + 1 ? true : null,
    );
  }
  await finish(target);
});

test('a disconnection near the sizes in which the service counts loses and repeats nothing', async () => {
  const bytes = Buffer.concat([clip.subarray(0, 4_096), Buffer.alloc(300_000, 'reelfeed')]);
  const edges = [4_096, 65_536, 262_144].flatMap((edge) => [edge - 1, edge, edge + 1]);
  for (const cut of [...edges, bytes.length - 1]) {
    const target = await open(bytes);
    const isReceiving = await nextWriter(target);
    await sendAndHangUp(Buffer.concat([headOf(target, 0), bytes.subarray(0, cut)]), isReceiving);
    const offset = await offsetOf(target);
    assert.ok(offset <= cut, `${offset} of ${cut} bytes`);
    await finish(target);
  }
});
