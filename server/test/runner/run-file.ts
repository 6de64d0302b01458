/** Runs one test file in its own process and reports the outcome. */
import { randomUUID } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { run } from 'node:test';
import { fileMarker, killLeftovers } from './leftovers.ts';

export type Failure = { readonly test: string; readonly message: string };

export type Outcome = {
  readonly file: string;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly seconds: number;
  /** CPU time of the file and the processes that it started, or null if unknown. */
  readonly cpuSeconds: number | null;
  readonly failures: readonly Failure[];
};

type Options = {
  /** The folder to which `file` is relative. */
  readonly root: string;
  /** Time limit of the file, after which its process is killed. */
  readonly timeoutMs: number;
  /** Receives the file's events for the reporter, all at once when it has ended. */
  readonly report: (event: unknown) => void;
};

/**
 * Runs one file and reports its output in one piece, so that files are never interleaved. A file
 * also fails if it ends without its own totals (it exited or crashed), if it exceeds its time limit
 * (something is still open), if it has no tests, or if it leaves a process behind.
 */
export async function runFile(file: string, options: Options): Promise<Outcome> {
  const counts = { passed: 0, skipped: 0, tests: 0 };
  const failures: Failure[] = [];
  const said: unknown[] = [];
  let hasTotals = false;
  const startedAt = performance.now();
  const { name, value } = fileMarker(file);
  const cpuFile = path.join(os.tmpdir(), `reelfeed-test-cpu-${randomUUID()}`);
  const stream = run({
    files: [path.join(options.root, file)],
    // `timeout` limits each test, but not a process that stays after its tests.
    signal: AbortSignal.timeout(options.timeoutMs),
    execArgv: [
      '--disable-warning=ExperimentalWarning',
      `--import=${new URL('cpu-at-exit.ts', import.meta.url).href}`,
    ],
    env: {
      ...process.env,
      [name]: value,
      TEST_RUNNER_PID: String(process.pid),
      TEST_CPU_FILE: cpuFile,
    },
  });
  stream.on('test:pass', ({ skip, details }) => {
    if (details.type === 'suite') return;
    if (skip !== undefined && skip !== false) counts.skipped += 1;
    else counts.passed += 1;
  });
  let failed = 0;
  stream.on('test:fail', ({ name: test, details: { error, type } }) => {
    const isByChild = failureTypeOf(error) === 'subtestsFailed';
    if (type !== 'suite' || !isByChild) failed += 1;
    if (!isByChild) failures.push({ test, message: messageOf(error) });
  });
  stream.on('test:summary', (totals) => {
    if (totals.file === undefined) return;
    hasTotals = true;
    counts.tests = totals.counts.tests;
  });
  for await (const event of stream) {
    // Per-file totals are omitted: the last lines sum them up.
    if (event.type !== 'test:diagnostic' && event.type !== 'test:summary') said.push(event);
  }
  const fail = (message: string): void => {
    failed += 1;
    failures.push({ test: file, message });
    const data = { nesting: 0, message: `${file}: ${message}`, level: 'error' };
    said.push({ type: 'test:diagnostic', data });
  };
  const left = await killLeftovers(value);
  if (left.length > 0) fail(`left processes behind: ${left.join('; ')}`);
  if (!hasTotals && failed === 0) {
    // Node reports a process that exits early, even in the middle of a test, as one passed test.
    counts.passed = 0;
    fail('ended without a result');
  } else if (hasTotals && counts.tests === 0 && failed === 0) {
    fail('has no test');
  }
  for (const event of said) options.report(event);
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  const cpuSeconds = await takeNumber(cpuFile);
  const { passed, skipped } = counts;
  return { file, passed, failed, skipped, seconds, cpuSeconds, failures };
}

/** Reads and removes a file containing a number; null if a killed process left none. */
async function takeNumber(file: string): Promise<number | null> {
  const text = await readFile(file, 'utf8').catch(() => '');
  await rm(file, { force: true });
  return text === '' ? null : Number(text);
}

function failureTypeOf(error: Error): unknown {
  return 'failureType' in error ? error.failureType : undefined;
}

/** The error thrown by the test itself, on one line. */
function messageOf(error: Error): string {
  const thrown = error.cause instanceof Error ? error.cause : error;
  const text = thrown.message.replaceAll(/\s+/g, ' ').trim();
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}
