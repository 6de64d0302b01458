/**
 * Runs every test file in its own process against one temporary PostgreSQL, and prints a plain line
 * of counts. Arguments are parts of file names that select the files to run.
 *
 * `--faults` runs fault tests at full length: the files `*.faults.test.ts`, which run only here,
 * and those named after a crash or faults, which are shorter otherwise (`scale.ts`).
 *
 * Files and the services that they start share a compile cache: most processes of a run load the
 * same few hundred modules, which would take more than half of their start-up time.
 *
 * More files run concurrently than there are processors, because many files mostly wait. Those
 * about timing run at the end, one at a time. A failed file is run once more, alone. If it then
 * passes, the failure is flaky: the second run counts, and the last lines name the test and its
 * message, because a race was seen. With `--strict`, nothing is rerun and every failure counts.
 * `--repeat N` runs the files N times and reports failures by round.
 *
 * The last lines show the files' CPU time, which is more reliable than wall time on a shared
 * machine. Each file's times are in `node_modules/.cache/test-times.txt`.
 */
import { globSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { spec } from 'node:test/reporters';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { shareTestServer, startTestServer } from './database.ts';
import { cpuSecondsOf } from './runner/cpu-time.ts';
import { longestFirst, needsQuiet } from './runner/order.ts';
import { runFile, type Outcome } from './runner/run-file.ts';

const { values, positionals: wanted } = parseArgs({
  allowPositionals: true,
  options: {
    faults: { type: 'boolean', default: false },
    strict: { type: 'boolean', default: false },
    repeat: { type: 'string', default: '1' },
  },
});
const rounds = Number(values.repeat);
if (!Number.isInteger(rounds) || rounds < 1) throw new Error('--repeat takes a number from 1');
if (values.faults) process.env['REELFEED_TEST_SCALE'] = 'full';
/** The longest full run takes more than an hour. */
const timeoutMs = (values.faults ? 100 : 15) * 60_000;

const root = fileURLToPath(new URL('../../', import.meta.url));
const files = longestFirst(
  globSync(
    ['server', 'client', 'console', 'player', 'react-native', 'bench', 'release'].map(
      (folder) => `${folder}/**/*.test.ts`,
    ),
    { cwd: root },
  )
    .filter((file) => !file.includes('node_modules'))
    .filter((file) =>
      values.faults ? /(crash|faults)\.test\.ts$/.test(file) : !file.endsWith('.faults.test.ts'),
    )
    .filter((file) => wanted.length === 0 || wanted.some((part) => file.includes(part))),
);

const quiet = files.filter(needsQuiet);
const sharing = files.filter((file) => !needsQuiet(file));

process.env['NODE_COMPILE_CACHE'] ??= path.join(root, 'node_modules/.cache/compile');

const startedAt = performance.now();
await using server = await startTestServer();
shareTestServer(server);

const events = new PassThrough({ objectMode: true });
const specReport = events.compose(spec);
specReport.pipe(process.stdout, { end: false });

const first: Outcome[] = [];
const lines: string[] = [];
for (let round = 1; round <= rounds; round += 1) {
  const outcomes = [
    ...(await runFiles(sharing, Math.max(2, availableParallelism()) * 2)),
    ...(await runFiles(quiet, 1)),
  ];
  first.push(...outcomes);
  if (rounds === 1) continue;
  const failures = outcomes.filter(({ failed }) => failed > 0);
  const prefix = `round ${round} of ${rounds}`;
  if (failures.length === 0) lines.push(`${prefix}: passed`);
  for (const outcome of failures) lines.push(...failureLines(`${prefix}: failed`, outcome));
}

const counted = values.strict || rounds > 1 ? first : await withSecondRuns(first);

events.end();
await new Promise((resolve, reject) => {
  specReport.on('end', resolve).on('error', reject);
});
printTotals(counted);

/** Reruns failed files one by one. Returns the outcomes that count. */
async function withSecondRuns(outcomes: readonly Outcome[]): Promise<Outcome[]> {
  const counting = outcomes.filter(({ failed }) => failed === 0);
  for (const outcome of outcomes.filter(({ failed }) => failed > 0)) {
    const message = `second run, alone: ${outcome.file}`;
    events.write({ type: 'test:diagnostic', data: { nesting: 0, message, level: 'info' } });
    const [second] = await runFiles([outcome.file], 1);
    if (second === undefined) continue;
    counting.push(second);
    const isFlaky = second.failed === 0;
    const title = isFlaky ? 'flaky failure, passed when it ran alone' : 'failed twice';
    lines.push(...failureLines(title, isFlaky ? outcome : second));
  }
  return counting;
}

function printTotals(outcomes: readonly Outcome[]): void {
  const total = (key: 'passed' | 'failed' | 'skipped') =>
    outcomes.reduce((sum, outcome) => sum + outcome[key], 0);
  const [passed, failed, skipped] = [total('passed'), total('failed'), total('skipped')];
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  if (values.strict && rounds === 1) {
    for (const outcome of outcomes.filter((one) => one.failed > 0)) {
      lines.push(...failureLines('failed', outcome));
    }
  }
  process.stdout.write(`\n${files.length} test files in ${seconds} s\n`);
  printTimes();
  for (const line of lines) process.stdout.write(`${line}\n`);
  process.stdout.write(`${passed} passed, ${failed} failed`);
  process.stdout.write(skipped === 0 ? '\n' : `, ${skipped} skipped\n`);
  if (failed > 0 || passed === 0) process.exitCode = 1;
}

/** Total CPU time, and that of the most expensive files. */
function printTimes(): void {
  const cpuOf = ({ cpuSeconds }: Outcome) => cpuSeconds ?? 0;
  const ofFiles = first.reduce((sum, outcome) => sum + cpuOf(outcome), 0);
  const ofDatabase = server.pid === undefined ? null : cpuSecondsOf(server.pid);
  process.stdout.write(
    `${Math.round(ofFiles)} s of processor time in files, ` +
      `${Math.round(ofDatabase ?? 0)} s in the shared database\n`,
  );
  const times = first
    .toSorted((a, b) => cpuOf(b) - cpuOf(a))
    .map((outcome) => {
      const cpu = outcome.cpuSeconds === null ? 'unknown' : `${outcome.cpuSeconds.toFixed(1)} s`;
      return `${cpu} of processor time, ${outcome.seconds} s: ${outcome.file}\n`;
    });
  const target = path.join(root, 'node_modules/.cache/test-times.txt');
  if (files.length > 20) writeFileSync(target, times.join(''));
  process.stdout.write(times.slice(0, 10).join(''));
}

function failureLines(title: string, { file, failures }: Outcome): string[] {
  return [`${title}: ${file}`, ...failures.map(({ test, message }) => `    ${test}: ${message}`)];
}

/** Runs the files, at most `atOnce` concurrently. Returns the outcomes in order of completion. */
async function runFiles(names: readonly string[], atOnce: number): Promise<Outcome[]> {
  const waiting = [...names];
  const ended: Outcome[] = [];
  const report = (event: unknown): void => void events.write(event);
  const worker = async (): Promise<void> => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      // oxlint-disable-next-line no-await-in-loop -- a worker runs one file at a time
      ended.push(await runFile(file, { root, timeoutMs, report }));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return ended;
}
