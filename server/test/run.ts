/**
 * Runs every test file, each in a process of its own, against one throwaway PostgreSQL, and ends
 * with a plain line of counts. Arguments are parts of file names: only files that contain one run.
 */
import { globSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { fileURLToPath } from 'node:url';
import { shareTestServer, startTestServer } from './database.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const wanted = process.argv.slice(2);
const files = globSync(['server/**/*.test.ts', 'client/**/*.test.ts', 'bench/**/*.test.ts'], {
  cwd: root,
})
  .filter((file) => !file.includes('node_modules'))
  .filter((file) => wanted.length === 0 || wanted.some((part) => file.includes(part)))
  .toSorted()
  .map((file) => path.join(root, file));

const startedAt = performance.now();
const counts = { passed: 0, failed: 0, skipped: 0 };
await using server = await startTestServer();
shareTestServer(server);

const stream = run({
  files,
  concurrency: Math.max(2, availableParallelism()),
  timeout: 10 * 60_000,
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
await new Promise((resolve, reject) => {
  const report = stream.compose(spec);
  report.pipe(process.stdout, { end: false });
  report.on('end', resolve).on('error', reject);
});

const seconds = Math.round((performance.now() - startedAt) / 1_000);
const skipped = counts.skipped === 0 ? '' : `, ${counts.skipped} skipped`;
process.stdout.write(`\n${files.length} test files in ${seconds} s\n`);
process.stdout.write(`${counts.passed} passed, ${counts.failed} failed${skipped}\n`);
if (counts.failed > 0 || counts.passed === 0) process.exitCode = 1;
