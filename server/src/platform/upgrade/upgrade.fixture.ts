/** An upgrade that kills its process at a step. Arguments: data directory, programs, step. */
import { pino } from 'pino';
import { claimDataDirectory } from '../data-directory/data-directory.ts';
import { upgradeDatabase } from './upgrade-database.ts';

const [folder = '', programs = '', step = ''] = process.argv.slice(2);
await using dataDir = await claimDataDirectory(folder);
await upgradeDatabase(dataDir, '18', {
  log: pino({ level: 'silent' }),
  signal: new AbortController().signal,
  findPrograms: async () => programs,
  onStep: (reached) => {
    if (reached === step) process.kill(process.pid, 'SIGKILL');
  },
});
