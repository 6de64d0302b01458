/** Proves that media sent from shared buffers arrives intact, however slowly it is read. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import path from 'node:path';
import { test } from 'node:test';
import { fetchAll, readyItem } from './media.ts';
import { startService } from './service.ts';
import { pause } from './waiting.ts';

const service = await startService();

test('many concurrent slow readers get the bytes of their own file', async () => {
  const item = await readyItem(service, 'portrait.mp4');
  const files = await fetchAll(service, item.streamingUrl);
  const targets = await Promise.all(
    files
      .filter(({ url }) => /\.(m4s|mp4)$/.test(url))
      .map(async ({ url }) => {
        const { pathname } = new URL(url);
        const stored = path.join(service.dataDir, 'media/objects', pathname);
        return { pathname, bytes: await readFile(stored) };
      }),
  );
  assert.ok(targets.length > 1, `${targets.length} files`);
  const [slow = assert.fail()] = targets.toSorted((a, b) => b.bytes.length - a.bytes.length);
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
  await once(socket, 'connect');
  socket.write(`GET ${slow.pathname} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`);
  await pause(100, 'the answer is on its way and nobody reads it');
  const rounds = Array.from({ length: 10 }, () => targets).flat();
  await Promise.all(
    rounds.map(async ({ pathname, bytes }, index) => {
      const from = index % 7;
      const headers = index % 2 === 0 ? {} : { range: `bytes=${from}-` };
      const answer = await fetch(`${service.url}${pathname}`, { headers });
      const body = Buffer.from(await answer.arrayBuffer());
      assert.ok(body.equals(index % 2 === 0 ? bytes : bytes.subarray(from)), pathname);
      if (index % 5 > 0) return;
      // Disconnects halfway: its buffer must not reach another response.
      const gone = connect(Number(new URL(service.url).port), '127.0.0.1');
      gone.on('error', () => undefined);
      await once(gone, 'connect');
      gone.write(`GET ${pathname} HTTP/1.1\r\nhost: localhost\r\n\r\n`);
      await once(gone, 'readable');
      gone.destroy();
    }),
  );
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  const answer = Buffer.concat(chunks);
  const body = answer.subarray(answer.indexOf('\r\n\r\n') + 4);
  assert.ok(body.equals(slow.bytes));
});
