/** Checks of `reelfeed doctor` on the addresses of the service. */
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { Config } from '../../app/config.ts';
import { findFreePort } from '../../app/http.ts';
import { ConfigurationError } from '../../platform/settings.ts';
import type { Finding } from '../../platform/finding.ts';

const answerTimeoutMs = 2_000;
const lookupTimeoutMs = 5_000;

/** Whether the port is free, or the service itself has it. Port 0 takes a free one. */
export async function examinePort(config: Config): Promise<Finding[]> {
  const { host, port, roles } = config;
  if (port === 0 || !roles.includes('api')) return [];
  const subject = 'Port';
  try {
    await findFreePort(config);
    return [{ subject, state: 'ok', detail: `${port} on ${host} is free` }];
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    if (await isReelfeed(host, port)) {
      return [{ subject, state: 'ok', detail: `${port} on ${host}, in use by a running service` }];
    }
    return [{ subject, state: 'problem', detail: error.message }];
  }
}

/** Nothing but the service answers `/readyz` with its checks. */
async function isReelfeed(host: string, port: number): Promise<boolean> {
  const reached = host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  const url = `http://${isIP(reached) === 6 ? `[${reached}]` : reached}:${port}/readyz`;
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(answerTimeoutMs) });
    const body: unknown = await answer.json();
    return typeof body === 'object' && body !== null && 'checks' in body;
  } catch {
    return false;
  }
}

/** Whether the host of `REELFEED_PUBLIC_URL` has an address. */
export async function examinePublicUrl({ publicUrl }: Config): Promise<Finding[]> {
  if (publicUrl === null) return [];
  const subject = 'Public URL';
  const host = new URL(publicUrl).hostname.replace(/^\[(.*)\]$/, '$1');
  const timer = AbortSignal.timeout(lookupTimeoutMs);
  const tooLate = new Promise<string>((resolve) => {
    timer.addEventListener('abort', () => resolve('no answer in time'));
  });
  const resolved = lookup(host).then(
    () => null,
    (error: NodeJS.ErrnoException) => error.code ?? error.message,
  );
  const problem = await Promise.race([resolved, tooLate]);
  if (problem === null) return [{ subject, state: 'ok', detail: `${host} has an address` }];
  const detail = `the host ${host} of REELFEED_PUBLIC_URL has no address (${problem})`;
  const mend = 'Correct the name, or add it to the DNS: players load all media from there.';
  return [{ subject, state: 'problem', detail, mend }];
}
