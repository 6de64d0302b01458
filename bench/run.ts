/**
 * Runs the benchmarks, i.e. every `*.ts` file in this folder except this one, one after another.
 * Arguments are parts of file names. Exits with code 1 if a stated limit was missed.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('.', import.meta.url));
const wanted = process.argv.slice(2);
const files = readdirSync(folder)
  .filter((file) => file.endsWith('.ts') && file !== 'run.ts')
  .filter((file) => wanted.length === 0 || wanted.some((part) => file.includes(part)))
  .toSorted();

let missed = 0;
for (const file of files) {
  const load = loadavg()[0]?.toFixed(2) ?? '?';
  process.stdout.write(`\n== ${file.replace('.ts', '')} (load before: ${load})\n`);
  // The memory settings of server/bin/reelfeed.js, so that benchmarks run under the users'
  // conditions.
  const args = ['--disable-warning=ExperimentalWarning', '--max-semi-space-size=8', file];
  const env = { MALLOC_ARENA_MAX: '2', ...process.env };
  const { status } = spawnSync(process.execPath, args, { cwd: folder, env, stdio: 'inherit' });
  if (status !== 0) missed += 1;
}
process.exitCode = missed > 0 ? 1 : 0;
