/** Automatic backups. The mechanism is in `platform/backup/`. */
export { describeBackups } from './describe.ts';
