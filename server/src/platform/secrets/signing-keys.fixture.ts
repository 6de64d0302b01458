/**
 * A process for tests: connects to the database in the first argument, loads the signer named by
 * the second when told to, and prints its signature of a fixed text.
 */
import { once } from 'node:events';
import { pino } from 'pino';
import { openDatabase, type DatabaseConnection } from '../database/database.ts';
import { loadSigner } from './signing-keys.ts';

const [connectionJson = '', name = ''] = process.argv.slice(2);
const connection = JSON.parse(connectionJson) as DatabaseConnection;
await using database = openDatabase({ connection, poolSize: 1, log: pino({ level: 'silent' }) });
await database.db.selectNoFrom((eb) => eb.lit(1).as('one')).execute();
console.log('ready');
await once(process.stdin, 'data');
const signer = await loadSigner(database.db, name);
console.log(signer.sign('text', 32).toString('hex'));
process.stdin.destroy();
