/** A process for tests that migrates the database given by its argument and reports the result. */
import { createLogger } from '../logging/logging.ts';
import type { DatabaseConnection } from './database.ts';
import { migrate } from './migrate.ts';

const connection = JSON.parse(process.argv[2] ?? '') as DatabaseConnection;
console.log(JSON.stringify(await migrate(connection, createLogger('silent'))));
