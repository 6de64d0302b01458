/** Conditional requests and ranges, as RFC 9110 (sections 13 and 14) has them. */
import type { IncomingHttpHeaders } from 'node:http';

/** What tells one state of a resource from another. The tag is a strong one, with its quotes. */
export type Validators = { etag: string; modifiedAt?: Date };

/** Whether a GET or HEAD is answered by 304. `If-Modified-Since` counts only without a list of tags. */
export function isNotModified(headers: IncomingHttpHeaders, current: Validators): boolean {
  const tags = headers['if-none-match'];
  if (tags !== undefined) return matchesTag(tags, current.etag);
  const since = parseDate(headers['if-modified-since']);
  return since !== null && current.modifiedAt !== undefined && seconds(current.modifiedAt) <= since;
}

/** Whether a `Range` header is to be heeded: `If-Range` must name exactly the current state. */
export function isRangeCurrent(headers: IncomingHttpHeaders, current: Validators): boolean {
  const condition = headers['if-range'];
  if (condition === undefined) return true;
  const named = String(condition).trim();
  if (named.startsWith('"') || named.startsWith('W/')) return named === current.etag;
  const date = parseDate(named);
  return date !== null && current.modifiedAt !== undefined && seconds(current.modifiedAt) === date;
}

/** Whether a list of tags names the current one. Weak tags are as good here (section 8.8.3.2). */
function matchesTag(list: string, etag: string): boolean {
  if (list.trim() === '*') return true;
  const named = list.match(/(?:W\/)?"[^"]*"/g) ?? [];
  return named.some((tag) => tag.replace(/^W\//, '') === etag);
}

/** Seconds since 1970, or null for what is no date of HTTP. */
function parseDate(text: string | undefined): number | null {
  if (text === undefined || !/^[A-Z][a-z]+,? .*GMT$|^[A-Z][a-z]{2} [A-Z][a-z]{2} /.test(text))
    return null;
  const time = Date.parse(text);
  return Number.isNaN(time) ? null : Math.floor(time / 1_000);
}

/** HTTP's dates know no fractions. */
function seconds(date: Date): number {
  return Math.floor(date.getTime() / 1_000);
}
