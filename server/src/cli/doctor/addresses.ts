/** Checks of `reelfeed doctor` on the addresses of the service. */
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { get as httpGet, type IncomingMessage } from 'node:http';
import { get as httpsGet } from 'node:https';
import { json } from 'node:stream/consumers';
import type { Config } from '../../app/config.ts';
import { findFreePort } from '../../app/http.ts';
import { ConfigurationError } from '../../platform/settings/settings.ts';
import {
  certificateFiles,
  parseCertificatePair,
  readCertificateFiles,
} from '../../platform/tls/certificate-pair.ts';
import { dayMs } from '../../platform/values/time.ts';
import type { Finding } from '../../platform/feature/finding.ts';

const answerTimeoutMs = 2_000;
const lookupTimeoutMs = 5_000;

/** Whether the port is free or in use by the service itself. Port 0 picks a free one. */
export async function examinePort(config: Config): Promise<Finding[]> {
  const { host, port, roles } = config;
  if (port === 0 || !roles.includes('api')) return [];
  const subject = 'Port';
  try {
    await findFreePort(config);
    return [{ subject, state: 'ok', detail: `${port} on ${host} is free` }];
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    if (await isReelfeed(config)) {
      return [{ subject, state: 'ok', detail: `${port} on ${host}, in use by a running service` }];
    }
    return [{ subject, state: 'problem', detail: error.message }];
  }
}

/** Only the service answers `/readyz` with its checks. */
async function isReelfeed({ host, port, tlsCert }: Config): Promise<boolean> {
  const target = {
    host: host === '0.0.0.0' || host === '::' ? 'localhost' : host,
    port,
    path: '/readyz',
    signal: AbortSignal.timeout(answerTimeoutMs),
  };
  // The certificate is for another name. This is safe, because nothing secret is sent and nothing
  // is trusted.
  const request =
    tlsCert === null ? httpGet(target) : httpsGet({ ...target, rejectUnauthorized: false });
  try {
    const [answer] = (await once(request, 'response')) as [IncomingMessage];
    const body: unknown = await json(answer);
    return typeof body === 'object' && body !== null && 'checks' in body;
  } catch {
    return false;
  }
}

/**
 * Certificates of 90 days are usually renewed 30 days before they expire, so at 14 days a renewal
 * has failed.
 */
const soonDays = 14;

/** Whether the certificate is usable, and for how long. */
export async function examineCertificate(config: Config): Promise<Finding[]> {
  const files = certificateFiles(config);
  if (files === null) return [];
  const subject = 'Certificate';
  const { expiresAt, names } = parseCertificatePair(
    await readCertificateFiles(files),
    files,
    new Date(),
  );
  const days = Math.floor((expiresAt.getTime() - Date.now()) / dayMs);
  const detail = `of ${names}, expires in ${days} days`;
  if (days >= soonDays) return [{ subject, state: 'ok', detail }];
  const mend = 'Renew it. The service picks up the new files automatically.';
  return [{ subject, state: 'note', detail, mend }];
}

/** Whether the host of `REELFEED_PUBLIC_URL` has an address. */
export async function examinePublicUrl({ publicUrl }: Config): Promise<Finding[]> {
  if (publicUrl === null) return [];
  const subject = 'Public URL';
  const host = new URL(publicUrl).hostname.replace(/^\[(.*)\]$/, '$1');
  const timer = AbortSignal.timeout(lookupTimeoutMs);
  const tooLate = new Promise<string>((resolve) => {
    timer.addEventListener('abort', () => resolve('no response in time'));
  });
  const resolved = lookup(host).then(
    () => null,
    (error: NodeJS.ErrnoException) => error.code ?? error.message,
  );
  const problem = await Promise.race([resolved, tooLate]);
  if (problem === null) return [{ subject, state: 'ok', detail: `${host} resolves` }];
  const detail = `the host ${host} of REELFEED_PUBLIC_URL cannot be resolved (${problem})`;
  const mend = 'Correct the name or add it to the DNS. Players load all media from this host.';
  return [{ subject, state: 'problem', detail, mend }];
}
