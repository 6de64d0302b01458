/**
 * A process that logs faster than its output is read. It reports on stdout when it is done, and how
 * much memory it uses.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { createLogger } from './logging.ts';

const log = createLogger('info');
const text = 'x'.repeat(250);
for (let n = 0; n < 200_000; n += 1) {
  log.info({ n, text }, 'flood');
  if (n % 100 === 0) await turn();
}
process.stdout.write(`${process.memoryUsage.rss()}\n`);
