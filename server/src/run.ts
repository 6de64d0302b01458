/** Running the service in the foreground until it is told to stop. */
import { once } from 'node:events';
import {
  ConfigurationError,
  readConfig,
  unknownVariables,
  type Config,
} from './platform/config.ts';
import { DataDirectoryError } from './platform/data-directory.ts';
import { MigrationError } from './platform/database/migrate.ts';
import { createLogger } from './platform/logging.ts';
import { EmbeddedPostgresError } from './platform/postgres/embedded-postgres-error.ts';
import { AllowListError } from './platform/egress/allow-list.ts';
import { startService, type Service, type ServiceOptions } from './service.ts';

export type RunOptions = Pick<ServiceOptions, 'playerKey'> & {
  /** Called when the service answers; aborted with the first signal to stop. */
  onReady?: (service: Service, config: Config, signal: AbortSignal) => Promise<void>;
};

/**
 * Starts the service, says where it is, and stops it on SIGTERM or SIGINT. A second signal ends
 * the process at once.
 */
export async function runService(env: NodeJS.ProcessEnv, options: RunOptions = {}): Promise<void> {
  const config = readConfig(env);
  const log = createLogger(config.logLevel);
  for (const name of unknownVariables(env)) {
    log.warn({ variable: name }, 'unknown environment variable: no setting has this name');
  }
  const stop = new AbortController();
  const onSignal = (name: NodeJS.Signals) => {
    if (stop.signal.aborted) process.exit(1);
    log.info({ signal: name }, 'stopping');
    stop.abort();
  };
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
  await using service = await startService(config, { ...options, log, signal: stop.signal });
  announce(service, config);
  await options.onReady?.(service, config, stop.signal);
  if (!stop.signal.aborted) await once(stop.signal, 'abort');
}

/** The only place where keys are printed, and only those that were made just now. */
function announce(service: Service, config: Config): void {
  const lines = ['', `  Reelfeed is ready: ${service.listeningUrl ?? config.roles.join(', ')}`];
  if (service.listeningUrl !== null) {
    lines.push(
      `  Feed page          ${service.publicUrl}/feed`,
      `  API reference      ${service.publicUrl}/docs`,
    );
  }
  const { secretKey, publishableKey } = service.freshKeys;
  if (secretKey !== null) lines.push(`  Secret key         ${secretKey}`);
  if (publishableKey !== null) lines.push(`  Publishable key    ${publishableKey}`);
  if (secretKey !== null || publishableKey !== null) {
    lines.push('  These keys are shown this once: keep them.');
  }
  process.stdout.write(`${lines.join('\n')}\n\n`);
}

/** Errors whose message tells a person what to do; any other one is shown with its stack. */
const explained = [
  ConfigurationError,
  DataDirectoryError,
  EmbeddedPostgresError,
  MigrationError,
  AllowListError,
];

/** Prints why the process could not go on, and makes it end with a failure. */
export function reportFailure(error: unknown): void {
  const isExplained = explained.some((type) => error instanceof type) || isAddressInUse(error);
  const text = isExplained && error instanceof Error ? error.message : error;
  process.stderr.write(`${text instanceof Error ? (text.stack ?? text.message) : String(text)}\n`);
  process.exitCode = 1;
}

function isAddressInUse(error: unknown): boolean {
  return error instanceof Error && (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
}
