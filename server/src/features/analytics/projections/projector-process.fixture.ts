/**
 * A projector for tests, to be killed: works on the database whose connection is the first argument,
 * with leases of as many milliseconds as the second says, and ends with its parent.
 */
import { pino } from 'pino';
import { openDatabase, type DatabaseConnection } from '../../../platform/database/database.ts';
import { openEventLog } from '../../events/events.ts';
import { allProjections } from './all-projections.ts';
import { startProjector } from '../../../platform/projections/projector.ts';

const connection = JSON.parse(process.argv[2] ?? '') as DatabaseConnection;
const leaseMs = Number(process.argv[3]);
const log = pino({ level: 'silent' });
const { db } = openDatabase({ connection, poolSize: 4, log });
startProjector({ db, log, eventLog: openEventLog(db), projections: allProjections, leaseMs });
console.log('started');
process.stdin.resume().once('end', () => process.exit());
