/** Compares reports with the recount, value by value. */
import assert from 'node:assert/strict';

/** Percentiles come from histograms with buckets of about 2 %. */
const percentileError = 0.03;
/** Sums of fractions may differ in their last digits. */
const roundingError = 1e-9;
const shownDifferences = 20;

export class Tally {
  values = 0;
  readonly differences: string[] = [];

  report(): string {
    return `${this.values} values compared, ${this.differences.length} differ`;
  }

  assertNone(): void {
    assert.deepEqual(this.differences.slice(0, shownDifferences), [], this.report());
  }
}

export function compareAnswers(
  tally: Tally,
  found: unknown,
  expected: unknown,
  about: string,
): void {
  if (typeof expected === 'object' && expected !== null) {
    const others = (typeof found === 'object' ? (found ?? {}) : {}) as Record<string, unknown>;
    const wanted = expected as Record<string, unknown>;
    for (const key of new Set([...Object.keys(wanted), ...Object.keys(others)])) {
      compareAnswers(tally, others[key], wanted[key], `${about} ${key}`);
    }
    return;
  }
  tally.values += 1;
  if (found === expected) return;
  const allowed = / p\d\d$/.test(about) ? percentileError : roundingError;
  const isNear =
    typeof found === 'number' &&
    typeof expected === 'number' &&
    Math.abs(found - expected) <= allowed * Math.abs(expected);
  if (isNear) return;
  tally.differences.push(
    `${about}: ${JSON.stringify(found)} instead of ${JSON.stringify(expected)}`,
  );
}
