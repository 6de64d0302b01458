/**
 * PostgreSQL cannot store NUL, and a lone surrogate is not valid text. Both are rejected with an
 * error that names the field. In JSON, they can only appear as escapes, so a body without such an
 * escape is not searched.
 */
import { ApiError, type ErrorDetail } from './errors.ts';

/** Maximum number of problems in one response. */
const maxDetails = 20;

const suspiciousEscape = /\\u(?:0000|[dD][89a-fA-F])/;

/** Returns whether a JSON text has an escape that can produce NUL or a lone surrogate. */
export function mayHoldBadText(json: string): boolean {
  // Most bodies have no such escape at all, and a plain text search is much faster.
  return json.includes('\\u') && suspiciousEscape.test(json);
}

/** @throws ApiError naming each field of a JSON body that contains NUL or a lone surrogate */
export function refuseBadText(json: string, body: unknown): void {
  if (!mayHoldBadText(json)) return;
  const details: ErrorDetail[] = [];
  collect(body, details);
  if (details.length > 0) {
    const [first] = details;
    throw new ApiError('VALIDATION_ERROR', {
      message: `${first?.path ?? 'body'}: ${first?.message ?? 'is not valid text'}`,
      details,
    });
  }
}

/** @throws ApiError if a value of a query string contains NUL */
export function refuseBadQuery(values: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(values)) {
    if (typeof value === 'string' && value.includes('\0')) {
      throw new ApiError('VALIDATION_ERROR', {
        message: `query.${name}: must not contain a NUL character`,
        details: [{ path: `query.${name}`, message: 'must not contain a NUL character' }],
      });
    }
  }
}

/** @throws ApiError NOT_FOUND if a part of the path contains NUL, which no id contains */
export function refuseBadParams(values: Record<string, unknown>): void {
  for (const value of Object.values(values)) {
    if (typeof value === 'string' && value.includes('\0')) throw new ApiError('NOT_FOUND');
  }
}

/**
 * Iterates with an explicit stack, because a body may be nested deeper than the call stack allows.
 */
function collect(body: unknown, details: ErrorDetail[]): void {
  const waiting: [path: string, value: unknown][] = [['', body]];
  while (waiting.length > 0 && details.length < maxDetails) {
    const [path, value] = waiting.pop() as [string, unknown];
    if (typeof value === 'string') {
      check(path, value, details);
    } else if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) waiting.push([`${path}[${index}]`, item]);
    } else if (typeof value === 'object' && value !== null) {
      for (const [key, item] of Object.entries(value)) {
        const shown = key.toWellFormed().replaceAll('\0', '\uFFFD');
        check(`${path} (a key)`.trim(), key, details);
        waiting.push([path === '' ? shown : `${path}.${shown}`, item]);
      }
    }
  }
}

function check(path: string, value: string, details: ErrorDetail[]): void {
  if (value.includes('\0')) details.push({ path, message: 'must not contain a NUL character' });
  else if (!value.isWellFormed())
    details.push({ path, message: 'must not contain a lone surrogate' });
}
