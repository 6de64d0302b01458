export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

const rfc3339 =
  /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.\d{1,9})?(?:[Zz]|[+-](\d\d):(\d\d))$/;

/**
 * Parses an RFC 3339 timestamp with an offset, strictly: no 30 February, no leap second, no local
 * time. Returns null for anything else.
 */
export function parseTimestamp(value: string): Date | null {
  const match = rfc3339.exec(value);
  if (match === null) return null;
  const [year, month, day, hour, minute, second, offsetHour, offsetMinute] = match
    .slice(1)
    .map((part) => Number(part ?? 0)) as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const inRange =
    month >= 1 &&
    month <= 12 &&
    hour <= 23 &&
    minute <= 59 &&
    second <= 59 &&
    offsetHour <= 23 &&
    offsetMinute <= 59;
  if (!inRange || day < 1 || day > daysInMonth(year, month)) return null;
  const parsed = new Date(value.toUpperCase());
  // The offset can shift an instant outside the range of four-digit years.
  const utcYear = parsed.getUTCFullYear();
  return utcYear >= 0 && utcYear <= 9999 ? parsed : null;
}

function daysInMonth(year: number, month: number): number {
  return new Date(Date.UTC(year, month, 0)).getUTCDate();
}

/** A timestamp in the format of all responses: UTC, milliseconds, `Z`. */
export function formatTimestamp(moment: Date | null): string | null {
  return moment === null ? null : moment.toISOString();
}
