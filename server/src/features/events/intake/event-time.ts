/** When an event happened. */
import { parseTimestamp } from '../../../platform/values/time.ts';

export const maxAheadMs = 5 * 60_000;
export const maxAgeMs = 24 * 3_600_000;

/** Completes "timestamp: …". */
export const timestampExpected =
  'must be an RFC 3339 timestamp with an offset, such as 2026-01-31T12:00:00Z';

/** A device's clock counts as correct up to this difference, which also covers a slow request. */
const maxClockErrorMs = 60_000;

/**
 * The correction of a request's timestamps to the server's clock: the server's time minus `sentAt`,
 * or 0 if that is at most a minute.
 *
 * @returns null if `sentAt` is not a timestamp
 */
export function clockOffsetOf(sentAt: unknown, nowMs: number): number | null {
  if (sentAt === undefined) return 0;
  const sentAtMs = typeof sentAt === 'string' ? parseMoment(sentAt) : null;
  if (sentAtMs === null) return null;
  const offsetMs = nowMs - sentAtMs;
  return Math.abs(offsetMs) > maxClockErrorMs ? offsetMs : 0;
}

/** February without its leap day, which is left to the general parser. */
const daysOfMonth = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] as const;

/** A timestamp in the format of the contract, in milliseconds, or null. */
export function parseMoment(text: string): number | null {
  // Nearly every client sends the format of Date.prototype.toISOString, and reading that digit by
  // digit takes a twentieth of the time that the general parser needs.
  return readUsual(text) ?? parseTimestamp(text)?.getTime() ?? null;
}

/**
 * `2026-01-31T12:00:00.000Z` in milliseconds. Returns null for every other format, for years before
 * 1970 and for leap days, all of which the general parser reads or rejects.
 */
export function readUsual(text: string): number | null {
  if (text.length !== 24 || text.charCodeAt(23) !== 0x5a) return null;
  const year = number(text, 0, 4);
  const month = number(text, 5, 7);
  const day = number(text, 8, 10);
  const hour = number(text, 11, 13);
  const minute = number(text, 14, 16);
  const second = number(text, 17, 19);
  const ms = number(text, 20, 23);
  const separated =
    text.charCodeAt(4) === 0x2d &&
    text.charCodeAt(7) === 0x2d &&
    text.charCodeAt(10) === 0x54 &&
    text.charCodeAt(13) === 0x3a &&
    text.charCodeAt(16) === 0x3a &&
    text.charCodeAt(19) === 0x2e;
  if (!separated || year < 1970) return null;
  // A month that does not exist has no days.
  if (day < 1 || day > (daysOfMonth[month - 1] ?? 0)) return null;
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59) return null;
  return ms < 0 ? null : Date.UTC(year, month - 1, day, hour, minute, second, ms);
}

/** The decimal number in `text` from `start` to `end`; -1 if it contains another character. */
function number(text: string, start: number, end: number): number {
  let value = 0;
  for (let at = start; at < end; at += 1) {
    const digit = text.charCodeAt(at) - 0x30;
    if (digit < 0 || digit > 9) return -1;
    value = value * 10 + digit;
  }
  return value;
}
