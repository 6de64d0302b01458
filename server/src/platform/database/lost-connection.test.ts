import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { test } from 'node:test';
import { sql } from 'kysely';
import { atEnd, silentLog } from '../../../test/database.ts';
import { isDatabaseAway } from './database-errors.ts';
import { openDatabase } from './database.ts';

function message(type: string, body: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(4 + body.length);
  return Buffer.concat([Buffer.from(type), length, body]);
}

test('a connection that ends in the packet that opens it fails a query and not the process', async () => {
  const authenticated = message('R', Buffer.alloc(4));
  const ready = message('Z', Buffer.from('I'));
  const fields = 'SFATAL\0C57P01\0Mterminating connection due to administrator command\0\0';
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      socket.end(Buffer.concat([authenticated, ready, message('E', Buffer.from(fields))]));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(() => new Promise((resolve) => server.close(resolve)));
  const { port } = server.address() as AddressInfo;
  const url = `postgres://nobody@127.0.0.1:${port}/none?sslmode=disable`;
  await using database = openDatabase({ connection: { url }, poolSize: 1, log: silentLog });
  for (let n = 0; n < 3; n += 1) {
    await assert.rejects(sql`select 1`.execute(database.db), isDatabaseAway);
  }
});
