/** Backups that the service takes by itself. The machinery is `platform/backup/`. */
export { describeBackups } from './describe.ts';
