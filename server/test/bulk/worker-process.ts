/**
 * A worker process for tests to kill. It processes bulk jobs in the database given as first
 * argument, prints its resident memory in MB five times a second, and exits with its parent.
 */
import { pino } from 'pino';
import { openDatabase, type DatabaseConnection } from '../../src/platform/database/database.ts';
import { startQueueWorkers } from '../../src/platform/queue/queue-workers.ts';
import { quickTiming } from '../queue/queue-jobs.ts';
import { bulkJobHandler } from '../../src/features/bulk/jobs.ts';

const connection = JSON.parse(process.argv[2] ?? '') as DatabaseConnection;
const log = pino({ level: 'silent' });
const { db } = openDatabase({ connection, poolSize: 4, log });
startQueueWorkers({ db, jobs: [bulkJobHandler({ db })], log, timing: quickTiming });
console.log('started');
setInterval(() => console.log(Math.round(process.memoryUsage().rss / 1024 / 1024)), 200);
process.stdin.resume().once('end', () => process.exit());
