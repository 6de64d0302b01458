/**
 * Update notices, for operators who want them. Once a day, the service requests the URL that they
 * configured. The request reveals nothing about the installation, and nothing is downloaded or
 * installed.
 */
import type { Logger } from 'pino';
import type { Parser } from '../../platform/settings/config-values.ts';
import type { Db } from '../../platform/database/database.ts';
import type { Egress } from '../../platform/egress/egress.ts';
import type { Finding } from '../../platform/feature/finding.ts';
import { version as ownVersion } from '../../version.ts';
import { beginLook, findRelease, keepRelease } from './queries.ts';
import { isNewer, readRelease, type Release } from './release.ts';

const hoursBetweenLooks = 24;
const timeoutMs = 10_000;
const maxBytes = 16 * 1_024;

/**
 * `off`, or a URL. A link from plain HTTP could be forged, so that is only allowed for this
 * machine.
 */
export function updateUrl(): Parser<string | null> {
  const problem = 'off, or an https URL such as https://example.com/reelfeed.json';
  return (raw) => {
    if (raw.trim() === 'off') return { value: null };
    const url = URL.parse(raw.trim());
    if (url === null || url.username !== '' || url.password !== '') return { problem };
    const isLoopback = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
    const isSafe = url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback);
    return isSafe ? { value: url.href } : { problem };
  };
}

type Parts = { readonly db: Db; readonly egress: Egress; readonly log: Logger };

/** Checks for a newer version once a day. Failures are logged only at `debug`. */
export async function lookForUpdate(
  { db, egress, log }: Parts,
  url: string,
  signal: AbortSignal,
): Promise<void> {
  if (!(await beginLook(db, url, hoursBetweenLooks))) return;
  try {
    const release = await askFor(egress, url, signal);
    await keepRelease(db, url, release);
    if (!isNewer(release.version, ownVersion)) return;
    log.info({ ...release, ownVersion }, 'a newer version of Reelfeed is available');
  } catch (error) {
    log.debug({ err: error }, 'could not check for a newer version');
  }
}

async function askFor(egress: Egress, url: string, signal: AbortSignal): Promise<Release> {
  const limits = { totalTimeoutMs: timeoutMs, maxBodyBytes: maxBytes };
  const { status, body, truncated } = await egress.request(
    { url, schemes: ['https:', 'http:'], ...limits },
    signal,
  );
  if (status !== 200) throw new Error(`the response status is ${status}`);
  if (truncated) throw new Error(`the response is larger than ${maxBytes} bytes`);
  return readRelease(body);
}

export type Update = Release & { readonly ownVersion: string };

/** The newer version found last, or null without one or without a URL. */
export async function findUpdate(db: Db, url: string | null): Promise<Update | null> {
  const release = url === null ? null : await findRelease(db, url);
  return release !== null && isNewer(release.version, ownVersion)
    ? { ...release, ownVersion }
    : null;
}

/** The line in `reelfeed doctor`; none if the check is off. */
export async function describeUpdate(db: Db, url: string | null): Promise<Finding[]> {
  if (url === null) return [];
  const subject = 'Version';
  const update = await findUpdate(db, url);
  if (update === null)
    return [{ subject, state: 'ok', detail: `no version after ${ownVersion} is known` }];
  const detail = `${update.version} is available; this is ${ownVersion}`;
  const mend =
    update.notesUrl === null
      ? 'Read the release notes, then update.'
      : `Read ${update.notesUrl}, then update.`;
  return [{ subject, state: 'note', detail, mend }];
}
