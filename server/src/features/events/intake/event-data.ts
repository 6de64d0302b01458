/** Limits on `data` of every kind: its size, its depth, and the text it may contain. */
import { EventProblem } from './event-problem.ts';

export const maxDataBytes = 8 * 1024;
export const maxDataLevels = 8;

export type EngagementData = Record<string, unknown>;

export function isRecord(value: unknown): value is EngagementData {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * The problem with `data`, or null.
 *
 * @param mayHoldBadText whether the JSON had an escape that can produce NUL or a lone surrogate;
 *   without one the check is skipped
 */
export function checkData(data: EngagementData, mayHoldBadText: boolean): EventProblem | null {
  const walk = { bytes: 2, mayHoldBadText, problem: null };
  measure(data, 'data', 1, walk);
  if (walk.problem !== null) return walk.problem;
  // The walk computes an upper bound; only sizes near the limit are computed exactly.
  if (walk.bytes <= maxDataBytes) return null;
  const exact = Buffer.byteLength(JSON.stringify(data));
  return exact > maxDataBytes
    ? new EventProblem('VALIDATION_ERROR', 'data', `must be at most ${maxDataBytes} bytes of JSON`)
    : null;
}

type Walk = { bytes: number; readonly mayHoldBadText: boolean; problem: EventProblem | null };

/** The maximum JSON bytes of a UTF-16 unit (an escape) and of a number. */
const maxBytesPerUnit = 6;
const maxBytesPerNumber = 26;

/** Recursion is safe, because the depth is limited. */
function measure(value: object, path: string, level: number, walk: Walk): void {
  if (level > maxDataLevels) {
    refuse(walk, 'data', `must not be nested deeper than ${maxDataLevels} levels`);
    return;
  }
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) {
      measureValue(value[index], path, index, level, walk);
      if (walk.problem !== null) return;
    }
    return;
  }
  for (const key in value) {
    walk.bytes += key.length * maxBytesPerUnit + 4;
    if (key === '__proto__') return refuse(walk, path, 'must not have a key named __proto__');
    if (walk.mayHoldBadText) checkText(key, `${path} (a key)`, walk);
    measureValue((value as EngagementData)[key], path, key, level, walk);
    if (walk.problem !== null) return;
  }
}

function measureValue(
  value: unknown,
  parent: string,
  key: string | number,
  level: number,
  walk: Walk,
): void {
  if (typeof value === 'string') {
    walk.bytes += value.length * maxBytesPerUnit + 3;
    if (walk.mayHoldBadText) checkText(value, pathOf(parent, key), walk);
  } else if (typeof value === 'number') {
    walk.bytes += maxBytesPerNumber;
    // JSON allows 1e400, which overflows to Infinity and would be stored as null.
    if (!Number.isFinite(value)) refuse(walk, pathOf(parent, key), 'is too large a number');
  } else if (typeof value === 'object' && value !== null) {
    walk.bytes += 3;
    measure(value, pathOf(parent, key), level + 1, walk);
  } else {
    walk.bytes += 6;
  }
}

function pathOf(parent: string, key: string | number): string {
  if (typeof key === 'number') return `${parent}[${key}]`;
  return `${parent}.${key.toWellFormed().replaceAll('\0', '\uFFFD')}`;
}

function checkText(text: string, path: string, walk: Walk): void {
  const detail = badText(text);
  if (detail !== null) refuse(walk, path, detail);
}

function refuse(walk: Walk, path: string, detail: string): void {
  walk.problem ??= new EventProblem('VALIDATION_ERROR', path, detail);
}

/** Why a text cannot be stored, or null. */
export function badText(text: string): string | null {
  if (text.includes('\0')) return 'must not contain a NUL character';
  return text.isWellFormed() ? null : 'must not contain a lone surrogate';
}
