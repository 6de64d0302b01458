/** Reads the settings again on SIGHUP. */
import type { Logger } from 'pino';
import type { LiveSettings } from '../platform/live-settings.ts';
import type { LogLevel } from '../platform/logging.ts';
import { ConfigurationError, unknownVariables } from '../platform/settings.ts';
import { readConfig, settings, type Config } from './config.ts';

type Reloading = {
  env: NodeJS.ProcessEnv;
  live: LiveSettings<typeof settings>;
  level: LogLevel;
  log: Logger;
};

/** In a terminal, SIGHUP goes on to end the process: it says that the terminal was closed. */
export function reloadOnHangUp(parts: Reloading): Disposable {
  if (process.stdout.isTTY) return { [Symbol.dispose]: () => undefined };
  const onSignal = () => reload(parts);
  process.on('SIGHUP', onSignal);
  return { [Symbol.dispose]: () => void process.off('SIGHUP', onSignal) };
}

function reload({ env, live, level, log }: Reloading): void {
  let next: Config;
  try {
    next = readConfig(env);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    const problem = error.message.replaceAll(/\s*\n\s*/g, ' ');
    log.error({ problem }, 'settings were not reloaded: those before stay in effect');
    return;
  }
  const report = live.replace(next);
  level.current = live.values.logLevel;
  log.warn(report, 'settings were reloaded');
  for (const variable of unknownVariables(settings, env)) {
    log.warn({ variable }, 'unknown environment variable: no setting has this name');
  }
}
