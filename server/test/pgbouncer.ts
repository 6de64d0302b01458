/** PgBouncer in transaction mode in front of a PostgreSQL server. */
import { spawn, spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Client } from 'pg';
import { atEnd } from './database.ts';
import { freePort, temporaryFolder } from './service.ts';
import { eventually } from './waiting.ts';

export const hasPgBouncer = spawnSync('pgbouncer', ['--version']).status === 0;

/** @returns the URL of the same database through the pooler */
export async function startPgBouncer(directUrl: string): Promise<string> {
  const direct = new URL(directUrl);
  const port = await freePort();
  const folder = await temporaryFolder();
  const config = path.join(folder, 'pgbouncer.ini');
  const user = decodeURIComponent(direct.username);
  const password = decodeURIComponent(direct.password);
  await writeFile(
    config,
    `[databases]
* = host=${direct.hostname} port=${direct.port} user=${user}${password === '' ? '' : ` password=${password}`}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 12
max_client_conn = 500
`,
  );
  // PgBouncer refuses to run as root.
  const isRoot = process.getuid?.() === 0;
  const child = spawn('pgbouncer', [...(isRoot ? ['-u', 'nobody'] : []), config], {
    stdio: 'ignore',
  });
  atEnd(async () => {
    child.kill('SIGKILL');
  });
  const url = new URL(direct);
  url.host = `127.0.0.1:${port}`;
  await eventually('PgBouncer to answer', async () => {
    const client = new Client({ connectionString: url.href });
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.end();
      return true;
    } catch {
      return null;
    }
  });
  return url.href;
}
