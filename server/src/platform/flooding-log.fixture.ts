/** A process that logs faster than anybody reads. It says on stdout when it has, and how much memory it takes. */
import { setImmediate as turn } from 'node:timers/promises';
import { createLogger } from './logging.ts';

const log = createLogger('info');
const text = 'x'.repeat(250);
for (let n = 0; n < 200_000; n += 1) {
  log.info({ n, text }, 'flood');
  if (n % 100 === 0) await turn();
}
process.stdout.write(`${process.memoryUsage.rss()}\n`);
