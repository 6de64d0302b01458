/**
 * Runs every test file, each in a process of its own, against one throwaway PostgreSQL, and ends
 * with a plain line of counts. Arguments are parts of file names: only files that contain one run.
 *
 * `--faults` runs what kills and cuts off in full length: the files `*.faults.test.ts`, which nothing
 * else runs, and those named by a crash or by faults, which are shorter otherwise (`scale.ts`).
 *
 * Files and the services that they start keep compiled code in one cache: most processes of a run
 * load the same few hundred modules, which costs more than half of their start.
 *
 * One file more runs at once than there are processors, because many files mostly wait. A file with
 * deadlines in real time can thus fail because of its neighbours. A file that fails runs once more,
 * alone. What it does alone counts, and the files that passed only alone are named at the end.
 */
import { globSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { fileURLToPath } from 'node:url';
import { shareTestServer, startTestServer } from './database.ts';

type Outcome = {
  readonly file: string;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly seconds: number;
};

const root = fileURLToPath(new URL('../../', import.meta.url));
const isFaultRun = process.argv.includes('--faults');
if (isFaultRun) process.env['REELFEED_TEST_SCALE'] = 'full';
const wanted = process.argv.slice(2).filter((argument) => argument !== '--faults');
const folders = ['server', 'client', 'player', 'bench'];
const files = globSync(
  folders.map((folder) => `${folder}/**/*.test.ts`),
  { cwd: root },
)
  .filter((file) => !file.includes('node_modules'))
  .filter((file) =>
    isFaultRun ? /(crash|faults)\.test\.ts$/.test(file) : !file.endsWith('.faults.test.ts'),
  )
  .filter((file) => wanted.length === 0 || wanted.some((part) => file.includes(part)))
  .toSorted();

/** The longest of the long runs takes an hour, and has to find afterwards what was lost. */
const fileTimeoutMs = (isFaultRun ? 100 : 10) * 60_000;

process.env['NODE_COMPILE_CACHE'] ??= path.join(root, 'node_modules/.cache/compile');

const startedAt = performance.now();
await using server = await startTestServer();
shareTestServer(server);

const events = new PassThrough({ objectMode: true });
const report = events.compose(spec);
report.pipe(process.stdout, { end: false });

const first = await runFiles(files, Math.max(2, availableParallelism()) + 1);
const failedAtFirst = first.filter(({ failed }) => failed > 0).map(({ file }) => file);
const second = await runFiles(failedAtFirst, 1);

events.end();
await new Promise((resolve, reject) => {
  report.on('end', resolve).on('error', reject);
});

const outcomes = [...first.filter(({ failed }) => failed === 0), ...second];
const passed = total(outcomes.map((outcome) => outcome.passed));
const failed = total(outcomes.map((outcome) => outcome.failed));
const skipped = total(outcomes.map((outcome) => outcome.skipped));
const seconds = Math.round((performance.now() - startedAt) / 1_000);
process.stdout.write(`\n${files.length} test files in ${seconds} s\n`);
if (files.length > 20) {
  const slowest = first.toSorted((a, b) => b.seconds - a.seconds).slice(0, 10);
  for (const { file, seconds: took } of slowest) process.stdout.write(`${took} s: ${file}\n`);
}
for (const outcome of second) {
  const verdict = outcome.failed === 0 ? 'passed only when it ran alone' : 'failed twice';
  process.stdout.write(`${outcome.file} ${verdict}\n`);
}
process.stdout.write(`${passed} passed, ${failed} failed`);
process.stdout.write(skipped === 0 ? '\n' : `, ${skipped} skipped\n`);
if (failed > 0 || passed === 0) process.exitCode = 1;

/** Runs the files, at most `atOnce` at a time. @returns the outcomes, in the order of ending */
async function runFiles(names: readonly string[], atOnce: number): Promise<Outcome[]> {
  const waiting = [...names];
  const ended: Outcome[] = [];
  const worker = async (): Promise<void> => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      // oxlint-disable-next-line no-await-in-loop -- a worker runs one file at a time
      ended.push(await runFile(file));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return ended;
}

/** Runs one file and reports what it said in one piece, so that files never mix. */
async function runFile(file: string): Promise<Outcome> {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const fileStartedAt = performance.now();
  const stream = run({
    files: [path.join(root, file)],
    timeout: fileTimeoutMs,
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  stream.on('test:pass', (event) => {
    if (event.details.type === 'suite') return;
    if (event.skip !== undefined && event.skip !== false) counts.skipped += 1;
    else counts.passed += 1;
  });
  stream.on('test:fail', (event) => {
    if (event.details.type !== 'suite') counts.failed += 1;
  });
  const said: unknown[] = [];
  for await (const event of stream) {
    // Each file's own totals are left out: the last lines add them up.
    if (event.type !== 'test:diagnostic' && event.type !== 'test:summary') said.push(event);
  }
  for (const event of said) events.write(event);
  return { file, ...counts, seconds: Math.round((performance.now() - fileStartedAt) / 1_000) };
}

function total(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
