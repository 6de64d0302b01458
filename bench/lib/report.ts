/** The figures of a benchmark, printed as one table in which each row has its limit. */

export type Row = {
  what: string;
  figure: string;
  /** The limit, in words. */
  limit?: string;
  /** Whether the limit was met; undefined if there is none. */
  kept?: boolean;
};

/** Prints the table, and makes the process fail if a limit was missed. */
export function report(rows: readonly Row[]): void {
  const width = Math.max(...rows.map((row) => row.what.length));
  const figureWidth = Math.max(...rows.map((row) => row.figure.length));
  for (const { what, figure, limit, kept } of rows) {
    const verdict = kept === undefined ? '' : kept ? '  kept' : '  MISSED';
    const promise = limit === undefined ? '' : `  limit ${limit}`;
    process.stdout.write(
      `${what.padEnd(width)}  ${figure.padStart(figureWidth)}${promise}${verdict}\n`,
    );
    if (kept === false) process.exitCode = 1;
  }
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}
