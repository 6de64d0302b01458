/** `reelfeed reload`: makes the running service reread its settings, and reports the result. */
import { hostname } from 'node:os';
import { readPlatformConfig } from '../platform/settings/config.ts';
import { livingOwner } from '../platform/data-directory/data-directory.ts';
import { readReload, type Reload } from '../app/reloading.ts';
import { sleep } from '../platform/async/lifecycle.ts';
import { print, UsageError, type Command } from './command.ts';

const answerWithinMs = 10_000;
const lookEveryMs = 50;

export const reloadCommand: Command = async ({ env, json }) => {
  const { dataDir, databaseUrl } = readPlatformConfig(env);
  if (databaseUrl !== null) {
    throw new UsageError(
      'With DATABASE_URL, several services may share a data directory. Use `systemctl reload reelfeed`, or send SIGHUP to each process.',
    );
  }
  const owner = await livingOwner(dataDir);
  if (owner === null)
    throw new UsageError(`No service is running with the data directory ${dataDir}.`);
  if (!owner.reloads) {
    throw new UsageError(
      `Process ${owner.pid}, which uses ${dataDir}, cannot reload: it is another command or runs in a terminal.`,
    );
  }
  if (owner.host !== hostname()) {
    throw new UsageError(`The service runs on ${owner.host}. Run this command there.`);
  }
  const before = await readReload(dataDir);
  process.kill(owner.pid, 'SIGHUP');
  const reload = await nextReload(dataDir, before);
  print(json, reload, toLines(reload));
  if (reload.problem !== null) process.exitCode = 1;
};

async function nextReload(dataDir: string, before: Reload | null): Promise<Reload> {
  const tooLate = AbortSignal.timeout(answerWithinMs);
  while (!tooLate.aborted) {
    const reload = await readReload(dataDir);
    if (reload !== null && reload.at !== before?.at) return reload;
    await sleep(lookEveryMs, tooLate);
  }
  throw new UsageError('The service did not confirm that it reloaded its settings. Check its log.');
}

function toLines({ applied, needRestart, problem }: Reload): string[] {
  if (problem !== null) return [`The settings were not reloaded: ${problem}`];
  if (applied.length + needRestart.length === 0) return ['No setting has changed.'];
  return [
    ...applied.map((name) => `in effect            ${name}`),
    ...needRestart.map((name) => `needs a restart      ${name}`),
  ];
}
