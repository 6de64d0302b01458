/**
 * Several servers, one of which accepts writes: the hosts of a libpq URL such as
 * `postgres://user@one:5432,two:5432/reelfeed?target_session_attrs=read-write`. After a failover,
 * all connections go to the promoted server.
 *
 *   known server accepts writes ── no answer, or it is a standby ──▶ all are asked at once
 *   all are asked at once ── one accepts writes ──▶ it becomes the known server, and connections to
 *                                                  the previous one are broken
 *
 * A URL with a single host is never checked.
 */
import { Client } from 'pg';
import type { Logger } from 'pino';
import { background, every } from '../async/lifecycle.ts';

const checkEveryMs = 500;
const answerWithinMs = 1_500;
/** User and password, hosts, and the rest. */
const form = /^(postgres(?:ql)?:\/\/(?:[^@/?]*@)?)([^/?]+)(.*)$/;

/** One URL per host. A URL without a list of hosts is returned unchanged. */
export function splitHosts(url: string): readonly string[] {
  const [, start = '', hosts = '', rest = ''] = form.exec(url) ?? [];
  if (!hosts.includes(',')) return [url];
  return hosts.split(',').map((host) => `${start}${host}${rest}`);
}

/** The last server found for each URL; all connections of this process go there. */
const found = new Map<string, string>();

/** The URL of the server that accepted writes when last checked. */
export function currentUrl(url: string): string {
  return found.get(url) ?? splitHosts(url)[0] ?? url;
}

/**
 * Retries until a server accepts writes or time runs out.
 *
 * @returns whether one does
 */
export async function findPrimary(url: string, withinMs = 0): Promise<boolean> {
  const hosts = splitHosts(url);
  if (hosts.length === 1) return true;
  const deadline = performance.now() + withinMs;
  do {
    if (await takesWrites(currentUrl(url))) return true;
    const primary = await firstPrimary(hosts);
    if (primary !== null) {
      found.set(url, primary);
      return true;
    }
  } while (performance.now() < deadline);
  return false;
}

/** Follows failovers until it is disposed of. */
export function watchPrimary(url: string, log: Logger, onMoved: () => void): AsyncDisposable {
  const check = async () => {
    const before = currentUrl(url);
    await findPrimary(url);
    if (currentUrl(url) === before) return;
    log.warn({ host: hostOf(currentUrl(url)) }, 'another database server accepts writes now');
    onMoved();
  };
  return background('primary database', (signal) => every(checkEveryMs, check, signal), log);
}

function hostOf(url: string): string {
  return new URL(url).host;
}

async function firstPrimary(hosts: readonly string[]): Promise<string | null> {
  const asked = hosts.map(async (host) => {
    if (await takesWrites(host)) return host;
    throw new Error('The server does not accept writes.');
  });
  return Promise.any(asked).catch(() => null);
}

async function takesWrites(url: string): Promise<boolean> {
  const client = new Client({
    connectionString: url,
    application_name: 'reelfeed-primary',
    connectionTimeoutMillis: answerWithinMs,
    query_timeout: answerWithinMs,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ isPrimary: boolean }>(
      `select not pg_is_in_recovery()
         and current_setting('default_transaction_read_only') = 'off' as "isPrimary"`,
    );
    return rows[0]?.isPrimary === true;
  } catch {
    return false;
  } finally {
    void client.end().catch(() => undefined);
  }
}
