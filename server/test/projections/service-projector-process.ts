/**
 * A projector of all features as a process that tests can kill. Takes the database connection as
 * its first argument and the duration of leases in milliseconds as its second. Exits when its
 * parent exits.
 */
import { pino } from 'pino';
import { openEventLog } from '../../src/features/events/events.ts';
import { openDatabase, type DatabaseConnection } from '../../src/platform/database/database.ts';
import { startProjector } from '../../src/platform/projections/projector.ts';
import { readConfig } from '../../src/app/config.ts';
import { allProjections } from '../../src/app/projections.ts';

const connection = JSON.parse(process.argv[2] ?? '') as DatabaseConnection;
const leaseMs = Number(process.argv[3]);
const log = pino({ level: 'silent' });
const { db } = openDatabase({ connection, poolSize: 4, log });
const projections = allProjections(readConfig({}));
startProjector({ db, log, eventLog: openEventLog(db), projections, leaseMs });
console.log('started');
process.stdin.resume().once('end', () => process.exit());
