/** Conditional requests (RFC 9110, section 13). */
import type { IncomingHttpHeaders } from 'node:http';
import fresh from 'fresh';

/** The validators of a resource. The tag is strong and includes its quotes. */
export type Validators = { etag: string; modifiedAt?: Date };

/** Whether the response depends on the current state of the resource. */
export function isConditional(headers: IncomingHttpHeaders): boolean {
  const conditions = ['if-none-match', 'if-modified-since', 'if-range'];
  return conditions.some((name) => headers[name] !== undefined);
}

/** Returns whether a GET or HEAD should be answered with 304. */
export function isNotModified(headers: IncomingHttpHeaders, current: Validators): boolean {
  // `Cache-Control` is ignored: `fetch` adds `no-cache` to each request that has a condition. It
  // tells caches to revalidate, not the server to send everything again.
  const { 'if-none-match': noneMatch, 'if-modified-since': modifiedSince } = headers;
  const conditions = { 'if-none-match': noneMatch, 'if-modified-since': modifiedSince };
  return fresh(conditions, {
    etag: current.etag,
    ...(current.modifiedAt && { 'last-modified': current.modifiedAt.toUTCString() }),
  });
}

/**
 * Whether a `Range` header applies: `If-Range`, if present, must match the current state exactly.
 */
export function isRangeCurrent(headers: IncomingHttpHeaders, current: Validators): boolean {
  const condition = headers['if-range'];
  if (condition === undefined) return true;
  const named = String(condition).trim();
  if (named.startsWith('"') || named.startsWith('W/')) return named === current.etag;
  const date = parseDate(named);
  return date !== null && current.modifiedAt !== undefined && seconds(current.modifiedAt) === date;
}

/** Seconds since 1970, or null for anything but an HTTP date. */
function parseDate(text: string | undefined): number | null {
  if (text === undefined || !/^[A-Z][a-z]+,? .*GMT$|^[A-Z][a-z]{2} [A-Z][a-z]{2} /.test(text))
    return null;
  const time = Date.parse(text);
  return Number.isNaN(time) ? null : Math.floor(time / 1_000);
}

/** HTTP dates have no fractions of a second. */
function seconds(date: Date): number {
  return Math.floor(date.getTime() / 1_000);
}
