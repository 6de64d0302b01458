/**
 * A projector process for tests to kill. It works on the database given as first argument, with the
 * lease time in milliseconds given as second, and exits with its parent.
 */
import { pino } from 'pino';
import { openDatabase, type DatabaseConnection } from '../../src/platform/database/database.ts';
import { openEventLog } from '../../src/features/events/events.ts';
import { ownProjections } from '../../src/features/analytics/projections/all-projections.ts';
import { startProjector } from '../../src/platform/projections/projector.ts';

const connection = JSON.parse(process.argv[2] ?? '') as DatabaseConnection;
const leaseMs = Number(process.argv[3]);
const log = pino({ level: 'silent' });
const { db } = openDatabase({ connection, poolSize: 4, log });
startProjector({ db, log, eventLog: openEventLog(db), projections: ownProjections, leaseMs });
console.log('started');
process.stdin.resume().once('end', () => process.exit());
