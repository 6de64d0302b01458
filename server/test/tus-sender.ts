/** A tus client for tests that disconnects, stalls and resumes, over a plain socket. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { sampleBytes } from './media.ts';
import { eventually } from './waiting.ts';

/** Maximum loss through a kill or a stall. */
export const mostLostBytes = 1_000_000;
export const tus = { 'tus-resumable': '1.0.0' };

/** A clip of at least `bytes`, padded with the MP4 box for free space. */
export async function paddedClip(bytes: number): Promise<Buffer> {
  const clip = await sampleBytes('faststart.mp4');
  const box = Buffer.alloc(8);
  box.writeUInt32BE(bytes - clip.length);
  box.write('free', 4, 'latin1');
  const filler = Buffer.alloc(bytes - clip.length - box.length);
  for (let at = 0; at + 4 <= filler.length; at += 4)
    filler.writeUInt32BE((at * 2_654_435) % 2 ** 32, at);
  return Buffer.concat([clip, box, filler]);
}

export async function createTus(url: string, lengthBytes: number, headers = {}): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { ...tus, 'upload-length': String(lengthBytes), ...headers },
  });
}

export async function tusOffset(url: string): Promise<number> {
  const answer = await fetch(url, { method: 'HEAD', headers: tus });
  assert.equal(answer.status, 200);
  return Number(answer.headers.get('upload-offset'));
}

export async function patchTus(
  url: string,
  offset: number,
  bytes: Buffer,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(url, {
    method: 'PATCH',
    headers: {
      ...tus,
      'upload-offset': String(offset),
      'content-type': 'application/offset+octet-stream',
      ...headers,
    },
    body: new Uint8Array(bytes),
  });
}

export type OpenPatch = {
  socket: Socket;
  /** The service's response so far. */
  answer: () => string;
  /** Sends some of the bytes. */
  send: (bytes: Buffer) => Promise<void>;
};

/** Starts a PATCH that declares `lengthBytes`; its bytes follow through `send`. */
export async function beginPatch(
  url: string,
  offset: number,
  lengthBytes: number,
): Promise<OpenPatch> {
  const { port, pathname } = new URL(url);
  const socket = connect(Number(port), '127.0.0.1');
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  let answer = '';
  socket.on('data', (chunk: Buffer) => (answer += chunk.toString('latin1')));
  const send = async (bytes: Buffer): Promise<void> => {
    if (!socket.write(bytes)) await once(socket, 'drain');
  };
  const head = [
    `PATCH ${pathname} HTTP/1.1`,
    'host: localhost',
    'tus-resumable: 1.0.0',
    `upload-offset: ${offset}`,
    'content-type: application/offset+octet-stream',
    `content-length: ${lengthBytes}\r\n\r\n`,
  ];
  await send(Buffer.from(head.join('\r\n'), 'latin1'));
  return { socket, answer: () => answer, send };
}

/** Waits until all but the tolerated loss is recorded. Returns the offset. */
export async function eventuallyCounts(url: string, sentBytes: number): Promise<number> {
  return eventually(`${sentBytes} bytes to count but for a megabyte`, async () => {
    const offset = await tusOffset(url);
    assert.ok(offset <= sentBytes, 'nothing counts that was not sent');
    return offset >= sentBytes - mostLostBytes ? offset : null;
  });
}
