/** Counts a process's requests to PostgreSQL on the wire, independent of the driver. */
import { once } from 'node:events';
import { createConnection, createServer, type Socket } from 'node:net';
import { after } from 'node:test';
import type { DatabaseConnection } from '../src/platform/database/database.ts';

/** The texts of the statements in one round trip. */
export type RoundTrip = string[];

export type CountedLine = {
  connection: DatabaseConnection;
  /** The round trips of each transaction that ended since the last call, in order. */
  transactions(): RoundTrip[][];
};

/** Opens a proxy to PostgreSQL that records traffic. Closed at the end of the test file. */
export async function openCountedLine(to: DatabaseConnection): Promise<CountedLine> {
  let ended: RoundTrip[][] = [];
  const sockets = new Set<Socket>();
  const line = createServer((client) => {
    const server = createConnection(addressOf(to));
    const reader = new TransactionReader((transaction) => ended.push(transaction));
    for (const socket of [client, server]) sockets.add(socket.on('error', () => undefined));
    client.on('data', (data) => {
      reader.read(data);
      server.write(data);
    });
    server.on('data', (data) => client.write(data)).on('close', () => client.destroy());
    client.on('close', () => server.destroy());
  });
  line.listen(0, '127.0.0.1');
  await once(line, 'listening');
  after(() => {
    for (const socket of sockets) socket.destroy();
    line.close();
  });
  const address = line.address();
  if (address === null || typeof address === 'string') throw new Error('The line has no port.');
  return {
    connection: through(to, address.port),
    transactions() {
      const result = ended;
      ended = [];
      return result;
    },
  };
}

/** Parses the messages of one connection: a Query or a Sync ends a round trip. */
class TransactionReader {
  readonly #onEnd: (transaction: RoundTrip[]) => void;
  #rest: Buffer = Buffer.alloc(0);
  #hasStarted = false;
  #trip: RoundTrip = [];
  #transaction: RoundTrip[] | null = null;

  constructor(onEnd: (transaction: RoundTrip[]) => void) {
    this.#onEnd = onEnd;
  }

  read(data: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, data]);
    for (;;) {
      // The start-up message has no type.
      const typeBytes = this.#hasStarted ? 1 : 0;
      if (this.#rest.length < typeBytes + 4) return;
      const length = typeBytes + this.#rest.readInt32BE(typeBytes);
      if (this.#rest.length < length) return;
      const message = this.#rest.subarray(0, length);
      this.#rest = this.#rest.subarray(length);
      if (this.#hasStarted) this.#take(String.fromCharCode(message[0] ?? 0), message.subarray(5));
      this.#hasStarted = true;
    }
  }

  #take(type: string, body: Buffer): void {
    if (type === 'Q') this.#trip.push(textAt(body, 0));
    if (type === 'P') this.#trip.push(textAt(body, body.indexOf(0) + 1));
    // A previously prepared statement is only executed.
    if (type === 'E' && this.#trip.length === 0) this.#trip.push('(prepared)');
    if (type === 'Q' || type === 'S') this.#endTrip();
  }

  #endTrip(): void {
    const trip = this.#trip;
    this.#trip = [];
    if (trip.some((text) => text.startsWith('begin'))) this.#transaction = [];
    this.#transaction?.push(trip);
    if (this.#transaction !== null && trip.some((text) => /^(commit|rollback)/.test(text))) {
      this.#onEnd(this.#transaction);
      this.#transaction = null;
    }
  }
}

function textAt(body: Buffer, start: number): string {
  return body.toString('utf8', start, body.indexOf(0, start)).trim();
}

function addressOf(connection: DatabaseConnection) {
  if ('url' in connection) {
    const url = new URL(connection.url);
    return { host: url.hostname, port: Number(url.port || 5432) };
  }
  const { host, port } = connection;
  return host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port };
}

function through(connection: DatabaseConnection, port: number): DatabaseConnection {
  if (!('url' in connection)) return { ...connection, host: '127.0.0.1', port };
  const url = new URL(connection.url);
  url.host = `127.0.0.1:${port}`;
  return { url: url.href };
}
