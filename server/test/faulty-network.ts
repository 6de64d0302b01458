/** A TCP proxy in front of a database that simulates faults of networks and frozen machines. */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { DatabaseConnection } from '../src/platform/database/database.ts';
import { atEnd } from './database.ts';

export type FaultyNetwork = {
  connection: DatabaseConnection;
  /** Silently drops all traffic on the open connections. */
  forgetConnections(): void;
  /** Blocks all traffic, also on new connections, until `heal`. */
  freeze(): void;
  /** Refuses new connections and closes open ones, until `heal`. */
  refuse(): Promise<void>;
  /** Closes open connections; new ones work, as after a failover. */
  cut(): void;
  heal(): Promise<void>;
};

type Pair = { client: Socket; server: Socket; isForgotten: boolean };

export async function putNetworkBefore(connection: DatabaseConnection): Promise<FaultyNetwork> {
  const target = addressOf(connection);
  const pairs = new Set<Pair>();
  let isFrozen = false;
  let listener: Server | null = null;
  const accept = (client: Socket) => {
    const server = connect(target);
    const pair = { client, server, isForgotten: false };
    pairs.add(pair);
    const pass = (from: Socket, to: Socket) =>
      from
        .on('data', (chunk) => {
          if (!pair.isForgotten && !isFrozen) to.write(chunk);
          else held.push(() => !pair.isForgotten && to.write(chunk));
        })
        .on('error', () => undefined)
        .on('close', () => {
          if (!pair.isForgotten) to.destroy();
          pairs.delete(pair);
        });
    pass(client, server);
    pass(server, client);
  };
  const held: (() => unknown)[] = [];
  const listen = async (port: number) => {
    listener = createServer(accept).listen(port, '127.0.0.1');
    await once(listener, 'listening');
    return (listener.address() as AddressInfo).port;
  };
  const cut = () => pairs.forEach(({ client, server }) => (client.destroy(), server.destroy()));
  const port = await listen(0);
  atEnd(async () => {
    listener?.close();
    cut();
  });
  return {
    connection: { url: throughPort(connection, port) },
    forgetConnections() {
      for (const pair of pairs) pair.isForgotten = true;
    },
    freeze() {
      isFrozen = true;
    },
    async refuse() {
      listener?.close();
      listener = null;
      cut();
    },
    cut,
    async heal() {
      isFrozen = false;
      for (const pass of held.splice(0)) pass();
      if (listener === null) await listen(port);
    },
  };
}

function addressOf(connection: DatabaseConnection) {
  if ('url' in connection) {
    const { hostname, port } = new URL(connection.url);
    return { host: hostname, port: Number(port || 5432) };
  }
  return { path: `${connection.host}/.s.PGSQL.${connection.port}` };
}

function throughPort(connection: DatabaseConnection, port: number): string {
  if ('url' in connection) {
    const url = new URL(connection.url);
    url.port = String(port);
    url.hostname = '127.0.0.1';
    return url.href;
  }
  const { user, password, database } = connection;
  return `postgres://${user}:${encodeURIComponent(password)}@127.0.0.1:${port}/${database}`;
}
