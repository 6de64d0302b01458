/** Rereads the settings on SIGHUP. */
import { writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Logger } from 'pino';
import type { LiveSettings, ReloadReport } from '../platform/settings/live-settings.ts';
import type { LogLevel } from '../platform/logging/logging.ts';
import { ConfigurationError, unknownVariables } from '../platform/settings/settings.ts';
import { readConfig, settings, type Config } from './config.ts';

type Reloading = {
  env: NodeJS.ProcessEnv;
  live: LiveSettings<typeof settings>;
  level: LogLevel;
  log: Logger;
};

export function hearsHangUp(): boolean {
  return !process.stdout.isTTY;
}

/** In a terminal, SIGHUP means that the terminal was closed, so it still ends the process. */
export function reloadOnHangUp(parts: Reloading): Disposable {
  if (!hearsHangUp()) return { [Symbol.dispose]: () => undefined };
  const onSignal = () => reload(parts);
  process.on('SIGHUP', onSignal);
  return { [Symbol.dispose]: () => void process.off('SIGHUP', onSignal) };
}

/** The result of the latest reload. */
export type Reload = ReloadReport & { readonly at: string; readonly problem: string | null };

const reportFile = 'reload.json';

/** Returns null before the first reload. */
export async function readReload(dataDir: string): Promise<Reload | null> {
  try {
    return JSON.parse(await readFile(path.join(dataDir, reportFile), 'utf8')) as Reload;
  } catch {
    return null;
  }
}

/**
 * Writes the report for `reelfeed reload`, which finds it in the data directory of its one service.
 */
function writeReport(
  { dataDir, databaseUrl }: Config,
  report: ReloadReport & { problem: string | null },
  log: Logger,
): void {
  if (databaseUrl !== null) return;
  const reload: Reload = { at: new Date().toISOString(), ...report };
  try {
    writeFileSync(path.join(dataDir, reportFile), JSON.stringify(reload), { mode: 0o600 });
  } catch (error) {
    log.warn({ err: error }, 'could not write the result of the reload');
  }
}

function reload({ env, live, level, log }: Reloading): void {
  let next: Config;
  try {
    next = readConfig(env);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    const problem = error.message.replaceAll(/\s*\n\s*/g, ' ');
    log.error({ problem }, 'settings not reloaded: the previous ones stay in effect');
    writeReport(live.values, { applied: [], needRestart: [], problem }, log);
    return;
  }
  const report = live.replace(next);
  level.current = live.values.logLevel;
  log.warn(report, 'settings reloaded');
  writeReport(live.values, { ...report, problem: null }, log);
  for (const variable of unknownVariables(settings, env)) {
    log.warn({ variable }, 'unknown environment variable: no setting has this name');
  }
}
