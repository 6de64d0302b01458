/** This machine's PostgreSQL server, if any. */
import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { atEnd } from './database.ts';

const candidates = ['root', 'postgres'].map((user) => `postgres://${user}@127.0.0.1:5432/postgres`);

export async function run(url: string, statement: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query<Record<string, unknown>>(statement)).rows;
  } finally {
    await client.end();
  }
}

/** A local server where a database can be created, or why there is none. */
export async function findServer(): Promise<{ url: string; version: string } | { reason: string }> {
  const reasons: string[] = [];
  for (const url of candidates) {
    try {
      const [row] = await run(
        url,
        `select current_setting('server_version') as version, rolcreatedb or rolsuper as may_create
         from pg_roles where rolname = current_user`,
      );
      const version = String(row?.['version']);
      if (row?.['may_create'] !== true) reasons.push(`${url} may not create databases`);
      else if (Number.parseInt(version, 10) < 15) reasons.push(`${url} is PostgreSQL ${version}`);
      else return { url, version };
    } catch (error) {
      reasons.push(`${url}: ${(error as Error).message}`);
    }
  }
  return { reason: `no outside PostgreSQL to try: ${reasons.join('; ')}` };
}

/** A separate database, dropped at the end. */
export async function makeDatabase(server: string): Promise<string> {
  const name = `reelfeed_compat_${randomBytes(6).toString('hex')}`;
  await run(server, `create database ${name} template template0 encoding 'UTF8'`);
  atEnd(() => run(server, `drop database if exists ${name} with (force)`));
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}
