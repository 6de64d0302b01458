/**
 * A process that rebuilds projections and that tests can kill. Takes the database connection, the
 * duration of leases in milliseconds, the number of events of a pass and the names of projections,
 * separated by commas, as its arguments. Waits for a line on standard input before each projection,
 * and prints its name and the CPU time used when it is done. Exits when its parent exits.
 */
import { createInterface } from 'node:readline';
import { pino } from 'pino';
import { openEventLog } from '../features/events/events.ts';
import { openDatabase, type DatabaseConnection } from '../platform/database/database.ts';
import { rebuildProjection } from '../platform/projections/rebuild.ts';
import { readConfig } from './config.ts';
import { allProjections } from './projections.ts';

const [connection = '', leaseMs, eventsOfPass, names = ''] = process.argv.slice(2);
const { db } = openDatabase({
  connection: JSON.parse(connection) as DatabaseConnection,
  poolSize: 4,
  log: pino({ level: 'silent' }),
});
const options = {
  db,
  eventLog: openEventLog(db),
  leaseMs: Number(leaseMs),
  eventsOfPass: Number(eventsOfPass),
  signal: new AbortController().signal,
};
const projections = allProjections(readConfig({}));
console.log('started');
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
for (const name of names.split(',')) {
  if ((await lines.next()).done === true) process.exit();
  const projection = projections.find((one) => one.name === name);
  if (projection === undefined) throw new Error(`there is no projection ${name}`);
  const before = process.cpuUsage();
  await rebuildProjection(projection, options);
  const { user, system } = process.cpuUsage(before);
  console.log(`${name} ${Math.round((user + system) / 1_000)}`);
}
process.exit();
