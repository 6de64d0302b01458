/**
 * Preloaded before a test file: when its process exits, it writes its CPU time to the file named by
 * the runner. Processes and threads that inherit the option write nothing.
 */
import { writeFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
import { cpuSecondsOf } from './cpu-time.ts';

const { TEST_RUNNER_PID: runner, TEST_CPU_FILE: file } = process.env;

if (isMainThread && runner === String(process.ppid) && file !== undefined) {
  process.on('exit', () => writeFileSync(file, String(cpuSecondsOf('self') ?? '')));
}
