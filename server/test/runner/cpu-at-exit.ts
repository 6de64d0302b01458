/**
 * Loaded before a test file: when its process ends, it leaves its processor time in the file that the
 * runner has named. Processes and threads that inherit the option leave nothing.
 */
import { writeFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
import { cpuSecondsOf } from './cpu-time.ts';

const { TEST_RUNNER_PID: runner, TEST_CPU_FILE: file } = process.env;

if (isMainThread && runner === String(process.ppid) && file !== undefined) {
  process.on('exit', () => writeFileSync(file, String(cpuSecondsOf('self') ?? '')));
}
