/** The response of the configured URL: the newest version and a link to its release notes. */
export type Release = { readonly version: string; readonly notesUrl: string | null };

const maxUrlCharacters = 500;

/** @throws {Error} describing the problem */
export function readRelease(body: Buffer): Release {
  const told: unknown = JSON.parse(body.toString('utf8'));
  if (typeof told !== 'object' || told === null)
    throw new Error('the response is not a JSON object');
  const { version, notesUrl = null } = told as { version?: unknown; notesUrl?: unknown };
  if (typeof version !== 'string' || numbersOf(version) === null) {
    throw new Error('`version` is not a version such as 1.2.3');
  }
  return { version, notesUrl: isWebAddress(notesUrl) ? notesUrl : null };
}

/** It becomes a link in the console, so only web addresses are accepted. */
function isWebAddress(value: unknown): value is string {
  if (typeof value !== 'string' || value.length > maxUrlCharacters) return false;
  return ['https:', 'http:'].includes(URL.parse(value)?.protocol ?? '');
}

/** Whether one version is newer than another. Pre-releases are never reported. */
export function isNewer(version: string, than: string): boolean {
  const [found, own] = [numbersOf(version), numbersOf(than.replace(/-.*$/, ''))];
  if (found === null || own === null) return false;
  const at = found.findIndex((number, index) => number !== own[index]);
  if (at >= 0) return (found[at] ?? 0) > (own[at] ?? 0);
  // A release is newer than its own pre-releases.
  return than.includes('-');
}

function numbersOf(version: string): number[] | null {
  const parts = /^(\d{1,9})\.(\d{1,9})\.(\d{1,9})$/.exec(version)?.slice(1);
  return parts === undefined ? null : parts.map(Number);
}
