/**
 * A process for tests: workers on the database whose connection is the first argument. The second
 * argument is the `exclusiveName` or '-', the third the lease in milliseconds. The job `hang` never
 * ends; `poison` kills the process; `work` writes its note. It prints the name of each job that it
 * starts, and exits with its parent.
 */
import { pino } from 'pino';
import { openDatabase, type DatabaseConnection } from '../../src/platform/database/database.ts';
import { done, handle } from '../../src/platform/queue/job-handler.ts';
import { noteJob, quickTiming, writeEffect } from './queue-jobs.ts';
import { startQueueWorkers } from '../../src/platform/queue/queue-workers.ts';

const [connectionJson = '', exclusiveName = '-', leaseMs = '2000'] = process.argv.slice(2);
const connection = JSON.parse(connectionJson) as DatabaseConnection;
const log = pino({ level: 'silent' });
const database = openDatabase({ connection, poolSize: 4, log });

const hang = handle(noteJob('hang'), async () => {
  console.log('hang');
  await new Promise<never>(() => undefined);
  return done;
});
const poison = handle(noteJob('poison'), async () => {
  process.kill(process.pid, 'SIGKILL');
  await new Promise<never>(() => undefined);
  return done;
});
const work = handle(noteJob('work'), async ({ note }, context) => {
  await context.finish((tx) => writeEffect(tx, note));
  return done;
});

startQueueWorkers({
  db: database.db,
  jobs: [hang, poison, work],
  log,
  timing: { ...quickTiming, leaseMs: Number(leaseMs) },
  ...(exclusiveName === '-' ? {} : { exclusiveName }),
});
process.stdin.resume().once('end', () => process.exit());
