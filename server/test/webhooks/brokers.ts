/**
 * Message brokers for tests, with TLS and credentials. Each is a server process that ends with the
 * tests.
 */
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { connect } from 'node:net';
import { atEnd } from '../database.ts';
import { authority, receiverCertificate } from '../receiver.ts';
import { freePort, temporaryFolder } from '../service.ts';
import { eventually } from '../waiting.ts';

export type Access = { readonly username?: string; readonly password: string };
export type Broker = { readonly port: number; readonly access: Access };

const rabbitServer = '/usr/lib/rabbitmq/bin/rabbitmq-server';
const newPassword = () => randomBytes(12).toString('hex');

/** Why NATS is unavailable, or null. */
export function lacksNats(): string | null {
  const { error } = spawnSync('nats-server', ['--version']);
  return error === undefined ? null : 'nats-server is not installed';
}

export function lacksRabbit(): string | null {
  return existsSync(rabbitServer) ? null : 'rabbitmq-server is not installed';
}

export function isListening(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect(port, '127.0.0.1');
  socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
  return promise.finally(() => socket.destroy());
}

async function writeCertificate(folder: string) {
  const files = { key: 'key.pem', cert: 'cert.pem', ca: 'ca.pem' };
  const at = (name: string) => path.join(folder, name);
  await writeFile(at(files.key), receiverCertificate.key);
  await writeFile(at(files.cert), receiverCertificate.cert);
  await writeFile(at(files.ca), authority.cert);
  return { key: at(files.key), cert: at(files.cert), ca: at(files.ca) };
}

async function run(command: string, args: string[], env: Record<string, string>, port: number) {
  const child = spawn(command, args, {
    env: { PATH: process.env['PATH'], ...env },
    stdio: 'ignore',
  });
  const ended = once(child, 'exit');
  atEnd(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  await eventually(
    `${command} to listen`,
    async () => {
      if (child.exitCode !== null) throw new Error(`${command} has ended: ${child.exitCode}`);
      return (await isListening(port)) || null;
    },
    60_000,
  );
}

/** NATS with JetStream and TLS, authenticated by user and password or by token. */
export async function startNats(by: 'password' | 'token'): Promise<Broker> {
  const folder = await temporaryFolder();
  const { key, cert } = await writeCertificate(folder);
  const port = await freePort();
  const password = newPassword();
  const who = by === 'token' ? `token: "${password}"` : `user: hooks, password: "${password}"`;
  const file = path.join(folder, 'nats.conf');
  await writeFile(
    file,
    `listen: "127.0.0.1:${port}"
tls { cert_file: "${cert}", key_file: "${key}" }
authorization { ${who} }
jetstream { store_dir: "${path.join(folder, 'streams')}" }
`,
  );
  await run('nats-server', ['--config', file], {}, port);
  return { port, access: by === 'token' ? { password } : { username: 'hooks', password } };
}

/** A RabbitMQ node with TLS only. */
export async function startRabbit(): Promise<Broker> {
  const folder = await temporaryFolder();
  const { key, cert, ca } = await writeCertificate(folder);
  const [port, nodePort] = [await freePort(), await freePort()];
  const access = { username: 'hooks', password: newPassword() };
  const at = (name: string) => path.join(folder, name);
  await mkdir(at('home'));
  await writeFile(at('plugins'), '[].\n');
  await writeFile(
    at('rabbitmq.conf'),
    `listeners.tcp = none
listeners.ssl.1 = 127.0.0.1:${port}
ssl_options.cacertfile = ${ca}
ssl_options.certfile = ${cert}
ssl_options.keyfile = ${key}
default_user = ${access.username}
default_pass = ${access.password}
`,
  );
  const env = {
    HOME: at('home'),
    RABBITMQ_NODENAME: `hooks-${port}@localhost`,
    RABBITMQ_DIST_PORT: String(nodePort),
    RABBITMQ_CONFIG_FILE: at('rabbitmq.conf'),
    RABBITMQ_ENABLED_PLUGINS_FILE: at('plugins'),
    RABBITMQ_MNESIA_BASE: at('data'),
    RABBITMQ_LOG_BASE: at('log'),
    RABBITMQ_PID_FILE: at('pid'),
  };
  await run(rabbitServer, [], env, port);
  return { port, access };
}
