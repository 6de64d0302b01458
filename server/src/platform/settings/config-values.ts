/**
 * Parsers for configuration values: each takes text and returns a value or a description of the
 * expected format.
 */
import { splitHosts } from '../database/primary.ts';

export type Parsed<T> = { value: T } | { problem: string };
export type Parser<T> = (raw: string) => Parsed<T>;

export function text(): Parser<string> {
  return (raw) => (raw.trim() === '' ? { problem: 'a non-empty string' } : { value: raw.trim() });
}

/** A valid header name (RFC 9110, section 5.1). */
export function headerName(): Parser<string> {
  return (raw) =>
    /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/.test(raw.trim())
      ? { value: raw.trim() }
      : { problem: 'the name of a header, such as CF-IPCountry' };
}

export function optional<T>(parser: Parser<T>): Parser<T | null> {
  return (raw) => (raw.trim() === '' ? { value: null } : parser(raw));
}

/** A list that may be empty. */
export function noneOr<T>(parser: Parser<readonly T[]>): Parser<readonly T[]> {
  return (raw) => (raw.trim() === '' ? { value: [] } : parser(raw));
}

export function integer(range: { min: number; max: number }): Parser<number> {
  return (raw) => {
    const value = /^\d{1,15}$/.test(raw.trim()) ? Number(raw) : Number.NaN;
    return value >= range.min && value <= range.max
      ? { value }
      : { problem: `a whole number from ${range.min} to ${range.max}` };
  };
}

export function list(): Parser<readonly string[]> {
  return (raw) => ({
    value: raw
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== ''),
  });
}

export function choice<const T extends string>(allowed: readonly T[]): Parser<T> {
  return (raw) => {
    const found = allowed.find((one) => one === raw.trim());
    return found === undefined ? { problem: `one of ${allowed.join(', ')}` } : { value: found };
  };
}

export function choices<const T extends string>(allowed: readonly T[]): Parser<readonly T[]> {
  const each = choice(allowed);
  return (raw) => {
    const values: T[] = [];
    for (const part of raw.split(',')) {
      const parsed = each(part);
      if ('problem' in parsed)
        return { problem: `a comma-separated list of ${allowed.join(', ')}` };
      values.push(parsed.value);
    }
    return { value: values };
  };
}

export function httpUrl(): Parser<string> {
  const problem = 'an http or https URL without a query, such as https://feed.example.com';
  return (raw) => {
    if (!URL.canParse(raw)) return { problem };
    const url = new URL(raw);
    const plain = !/[?#]/.test(raw) && url.username === '' && url.password === '';
    if (!plain || (url.protocol !== 'http:' && url.protocol !== 'https:')) return { problem };
    return { value: url.href.replace(/\/+$/, '') };
  };
}

export function smtpUrl(): Parser<string> {
  return (raw) => {
    const value = raw.trim();
    return /^smtps?:\/\/[^/]/.test(value) && URL.canParse(value)
      ? { value }
      : { problem: 'a URL such as smtps://user:password@mail.example.com:465' };
  };
}

/** A comma-separated list of web origins, without paths. */
export function origins(): Parser<readonly string[]> {
  const problem = 'a comma-separated list of origins such as https://app.example.com';
  return (raw) => {
    const parts = raw
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '');
    const isOrigin = (part: string) =>
      /^https?:\/\/[a-z0-9.-]+(:\d+)?$/.test(part) && URL.parse(part)?.origin === part;
    return parts.every(isOrigin) ? { value: parts } : { problem };
  };
}

/** libpq would interpret any other text as the name of a database on another host. */
export function postgresUrl({ severalHosts = true } = {}): Parser<string> {
  return (raw) => {
    const value = raw.trim();
    if (!severalHosts && splitHosts(value).length > 1) {
      return {
        problem: 'a URL with one host, such as postgres://user:password@host:5432/database',
      };
    }
    const isValid = splitHosts(value).every(
      (url) => /^postgres(ql)?:\/\//.test(url) && URL.canParse(url) && isAboutWrites(url),
    );
    return isValid
      ? { value }
      : {
          problem:
            'a URL such as postgres://user:password@host:5432/database, or one with several hosts: ' +
            'postgres://user:password@one:5432,two:5432/database?target_session_attrs=read-write',
        };
  };
}

/**
 * With several servers, the service always uses the one that accepts writes, so other values of
 * `target_session_attrs` are rejected.
 */
function isAboutWrites(url: string): boolean {
  const wanted = new URL(url).searchParams.get('target_session_attrs');
  return wanted === null || wanted === 'read-write' || wanted === 'primary';
}

export function s3Url(): Parser<{ bucket: string; prefix: string }> {
  const problem =
    's3://bucket or s3://bucket/prefix, with letters, digits, ".", "_" and "-" in the prefix, ' +
    'and without credentials';
  return (raw) => {
    const form =
      /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])((?:\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*)\/?$/;
    const [, bucket, folders = ''] = form.exec(raw.trim()) ?? [];
    return bucket === undefined || folders.length > 200
      ? { problem }
      : { value: { bucket, prefix: folders.slice(1) } };
  };
}

/** A comma-separated list of buckets, each with an optional key prefix. */
export function bucketPlaces(): Parser<readonly { bucket: string; prefix: string }[]> {
  const one = s3Url();
  return (raw) => {
    const parts = raw.split(',').map((part) => part.trim());
    const places: { bucket: string; prefix: string }[] = [];
    for (const part of parts.filter((named) => named !== '')) {
      const read = one(`s3://${part}`);
      if ('problem' in read) {
        return {
          problem: 'a comma-separated list of bucket or bucket/prefix, such as videos,archive/2026',
        };
      }
      places.push(read.value);
    }
    return { value: places };
  };
}

/** Exactly this many bytes in base64. A decoder alone would skip invalid characters. */
export function base64Bytes(length: number): Parser<string> {
  return (raw) => {
    const value = raw.trim();
    const isBase64 = /^(?:[\w+/-]{4})*(?:[\w+/-]{2,3}={0,2})?$/.test(value);
    return isBase64 && Buffer.from(value, 'base64').length === length
      ? { value }
      : { problem: `${length} bytes in base64, such as \`openssl rand -base64 ${length}\` prints` };
  };
}

const byteUnits: Record<string, number> = {
  '': 1,
  KB: 2 ** 10,
  MB: 2 ** 20,
  GB: 2 ** 30,
  TB: 2 ** 40,
};

/** A number of bytes; the units KB, MB, GB and TB are powers of 1,024. */
export function bytes({ min = '0' } = {}): Parser<number> {
  const minBytes = parseBytes(min) ?? 0;
  const atLeast = minBytes === 0 ? '' : `at least ${min}, in `;
  return (raw) => {
    const value = parseBytes(raw);
    if (value === null || value < minBytes) {
      return { problem: `${atLeast}bytes, such as 500MB or 5GB` };
    }
    return Number.isSafeInteger(value) ? { value } : { problem: 'fewer bytes' };
  };
}

function parseBytes(raw: string): number | null {
  const match = /^(\d{1,15})\s*([KMGT]B|)$/.exec(raw.trim().toUpperCase());
  const unit = match === null ? undefined : byteUnits[match[2] ?? ''];
  return match === null || unit === undefined ? null : Number(match[1]) * unit;
}

const durationUnitsMs: Record<string, number> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/**
 * Ten years: longer than any sensible setting, but short enough that every computed date is valid.
 */
const longestDuration = '3650d';
/** Slightly less than the limit of Node's timers, 2^31 - 1 ms. A longer timer fires immediately. */
export const longestTimer = '24d';

/**
 * A duration in milliseconds, written with its unit: 500ms, 30s, 5m, 24h, 30d. The bounds use the
 * same notation and are inclusive.
 */
export function duration({ min = '0s', max = longestDuration } = {}): Parser<number> {
  const [leastMs, maxMs] = [parseDuration(min) ?? 0, parseDuration(max) ?? 0];
  return (raw) => {
    const value = parseDuration(raw);
    return value !== null && value >= leastMs && value <= maxMs
      ? { value }
      : { problem: `a duration from ${min} to ${max} with a unit, such as 500ms, 30s, 5m or 24h` };
  };
}

function parseDuration(raw: string): number | null {
  const match = /^(\d{1,9})\s*(ms|s|m|h|d)$/.exec(raw.trim());
  const unitMs = match === null ? undefined : durationUnitsMs[match[2] ?? ''];
  return match === null || unitMs === undefined ? null : Number(match[1]) * unitMs;
}

const maxAttempts = 20;

/** The delay before each retry in milliseconds; the first attempt is immediate. */
export function retrySchedule(): Parser<readonly number[]> {
  const one = duration();
  const problem = `1 to ${maxAttempts} delays with units, starting with 0s, such as 0s,1m,5m`;
  return (raw) => {
    const delaysMs: number[] = [];
    for (const part of raw.split(',')) {
      const parsed = one(part);
      if ('problem' in parsed) return { problem };
      delaysMs.push(parsed.value);
    }
    return delaysMs[0] === 0 && delaysMs.length <= maxAttempts ? { value: delaysMs } : { problem };
  };
}
