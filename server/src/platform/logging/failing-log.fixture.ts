/**
 * A process that logs 16 MB to an output that fails. It reports on stdout how many lines were
 * dropped.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { LogOutput } from './log-output.ts';
import { createLogger } from './logging.ts';

const output = new LogOutput(process.stderr.fd);
const log = createLogger('info', output);
const text = 'x'.repeat(200);
for (let n = 0; n < 60_000; n += 1) {
  log.info({ n, text }, 'lost');
  if (n % 1_000 === 0) await delay(1);
}
process.stdout.write(String(output.dropped));
