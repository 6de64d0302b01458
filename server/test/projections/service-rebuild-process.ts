/**
 * A process that rebuilds projections and that tests can kill. Takes the database connection, the
 * duration of leases in milliseconds and the number of events of a pass as its arguments. Each line
 * on standard input names a projection; the process rebuilds it, and then prints its name. Exits
 * when its parent exits.
 */
import { createInterface } from 'node:readline';
import { pino } from 'pino';
import { openEventLog } from '../../src/features/events/events.ts';
import { openDatabase, type DatabaseConnection } from '../../src/platform/database/database.ts';
import { rebuildProjection } from '../../src/platform/projections/rebuild.ts';
import { readConfig } from '../../src/app/config.ts';
import { allProjections } from '../../src/app/projections.ts';

const [connection = '', leaseMs, eventsOfPass] = process.argv.slice(2);
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
for await (const name of createInterface({ input: process.stdin })) {
  const projection = projections.find((one) => one.name === name);
  if (projection === undefined) throw new Error(`there is no projection ${name}`);
  await rebuildProjection(projection, options);
  console.log(name);
}
process.exit();
