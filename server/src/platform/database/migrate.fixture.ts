/** A process for tests: migrates the database whose connection is its argument and says how. */
import { createLogger } from '../logging.ts';
import type { DatabaseConnection } from './database.ts';
import { migrate } from './migrate.ts';

const connection = JSON.parse(process.argv[2] ?? '') as DatabaseConnection;
console.log(JSON.stringify(await migrate(connection, createLogger('silent'))));
