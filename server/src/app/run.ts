/** Runs the service in the foreground until it is told to stop. */
import { once } from 'node:events';
import { DataDirectoryError } from '../platform/data-directory/data-directory.ts';
import { connectionProblem } from '../platform/database/database-errors.ts';
import { MigrationError } from '../platform/database/migrate.ts';
import { ApiError } from '../platform/http/errors.ts';
import { liveSettings } from '../platform/settings/live-settings.ts';
import { LogOutput } from '../platform/logging/log-output.ts';
import { createLogger, LogLevel } from '../platform/logging/logging.ts';
import type { Metrics } from '../platform/metrics/metrics.ts';
import { EmbeddedPostgresError } from '../platform/postgres/embedded-postgres-error.ts';
import { AllowListError } from '../platform/egress/allow-list.ts';
import { ConfigurationError, unknownVariables } from '../platform/settings/settings.ts';
import { StorageUnavailableError } from '../platform/storage/storage-errors.ts';
import { readConfig, settings, type Config } from './config.ts';
import { drainDelayBesideOthersMs } from './drain-delay.ts';
import { Ending } from './ending.ts';
import type { FreshKeys } from './platform-parts.ts';
import { hearsHangUp, reloadOnHangUp } from './reloading.ts';
import { startService, type Service, type ServiceOptions } from './service.ts';

export type RunOptions = Pick<ServiceOptions, 'playerKey'> & {
  /**
   * The key that the printed console link signs in with. Defaults to a key that this start created.
   */
  consoleKey?: string;
  /** Called once the service accepts requests. Its signal aborts on the first stop signal. */
  onReady?: (service: Service, config: Config, signal: AbortSignal) => Promise<void>;
};

/**
 * Added to the time for requests, because jobs, the last events and the database need to close as
 * well.
 */
const closeBeyondRequestsMs = 30_000;
const lastLogLinesMs = 1_000;

/**
 * Starts the service, prints its address, and stops it on SIGTERM or SIGINT. A second signal at
 * least half a second later ends the process at once. An uncaught error closes the service in order
 * and then restarts the process.
 */
export async function runService(env: NodeJS.ProcessEnv, options: RunOptions = {}): Promise<void> {
  const live = liveSettings(settings, readConfig(env));
  const config = live.values;
  const output = new LogOutput(process.stderr.fd);
  const level = new LogLevel(config.logLevel);
  const log = createLogger(level, output, { hasTraces: config.tracesUrl !== null });
  using _reloading = reloadOnHangUp({ env, live, level, log });
  for (const name of unknownVariables(settings, env)) {
    log.warn({ variable: name }, 'unknown environment variable: no setting has this name');
  }
  // Standard output may be a closed pipe or a full disk; neither may end the service.
  process.stdout.on('error', () => undefined);
  const { drainDelayMs, shutdownGraceMs } = config;
  using ending = new Ending({
    env,
    log,
    closeWithinMs:
      (drainDelayMs ?? drainDelayBesideOthersMs) + shutdownGraceMs + closeBeyondRequestsMs,
    flush: () => output.flush(lastLogLinesMs),
  });
  const measure = (metrics: Metrics) => collectRunMetrics(metrics, ending, output);
  try {
    await serve(config, { ...options, log, measure }, ending.signal);
  } catch (error) {
    if (!ending.hasFailed) throw error;
    log.error({ err: error }, 'shutdown after an uncaught error failed');
  }
  await ending.finish();
}

async function serve(
  config: Config,
  options: RunOptions & Pick<ServiceOptions, 'log' | 'measure'>,
  signal: AbortSignal,
): Promise<void> {
  try {
    let freshKeys: FreshKeys = { secretKey: null, publishableKey: null };
    const onFreshKeys = (keys: FreshKeys) => {
      // Printed before anything else can fail, because the keys are stored nowhere in clear text.
      announceKeys(keys);
      freshKeys = keys;
    };
    await using service = await startService(config, {
      ...options,
      reloads: hearsHangUp(),
      signal,
      onFreshKeys,
    });
    announce(service, config, options.consoleKey ?? freshKeys.secretKey);
    announceSteps(service, freshKeys);
    await options.onReady?.(service, config, signal);
    if (!signal.aborted) await once(signal, 'abort');
  } catch (error) {
    // A start that is interrupted by a stop signal has not failed.
    const isStopped = error instanceof Error && error.name === 'AbortError';
    if (!signal.aborted || !isStopped) throw error;
  }
}

function collectRunMetrics(metrics: Metrics, ending: Ending, output: LogOutput): void {
  metrics.collected({
    type: 'counter',
    name: 'process_uncaught_errors_total',
    help: 'Uncaught exceptions and unhandled rejections; each makes the process shut down and restart.',
    collect: () => ending.errors,
  });
  metrics.collected({
    type: 'counter',
    name: 'log_lines_dropped_total',
    help: 'Log lines dropped because the log buffer was full.',
    collect: () => output.dropped,
  });
}

function announce(service: Service, config: Config, consoleKey: string | null): void {
  const lines = ['', `  Reelfeed is ready: ${service.listeningUrl ?? config.roles.join(', ')}`];
  if (service.listeningUrl !== null) {
    if (consoleKey !== null) {
      lines.push(`  One-time sign-in   ${service.consoleLink(consoleKey)}`);
    }
    lines.push(
      `  Console            ${service.publicUrl}/console/`,
      `  Feed page          ${service.publicUrl}/feed`,
      `  Guides, reference  ${service.publicUrl}/docs/`,
    );
  }
  process.stdout.write(`${lines.join('\n')}\n\n`);
}

/** Prints keys that this start created. They are printed nowhere else. */
function announceKeys({ secretKey, publishableKey }: FreshKeys): void {
  if (secretKey === null && publishableKey === null) return;
  const lines = [''];
  if (secretKey !== null) lines.push(`  Secret key         ${secretKey}`);
  if (publishableKey !== null) lines.push(`  Publishable key    ${publishableKey}`);
  lines.push('  These keys will not be shown again. Store them now.');
  process.stdout.write(`${lines.join('\n')}\n`);
}

/** The next steps after the first start, as four lines to copy. */
function announceSteps({ publicUrl, listeningUrl }: Service, keys: FreshKeys): void {
  const { secretKey, publishableKey } = keys;
  if (listeningUrl === null || secretKey === null || publishableKey === null) return;
  const upload = `curl ${publicUrl}/v1/content/upload -H "Authorization: Bearer ${secretKey}"`;
  const script = `<script type="module" src="${publicUrl}/player/reelfeed-feed.js"></script>`;
  const lines = [
    '  Next steps:',
    `  1. Upload a clip   ${upload} -F title="My first clip" -F file=@clip.mp4`,
    `  2. Watch it        ${publicUrl}/feed?key=${publishableKey}`,
    `  3. Open console    ${publicUrl}/console/ (sign in with the secret key)`,
    `  4. Embed the feed  ${script}<reelfeed-feed key="${publishableKey}"></reelfeed-feed>`,
  ];
  process.stdout.write(`${lines.join('\n')}\n\n`);
}

/** Errors whose message tells the operator what to do. All others are printed with their stack. */
const explained = [
  ConfigurationError,
  DataDirectoryError,
  EmbeddedPostgresError,
  MigrationError,
  AllowListError,
  StorageUnavailableError,
  ApiError,
];

/** Prints why the process failed and sets a failing exit code. */
export function reportFailure(error: unknown): void {
  process.stderr.write(`${explain(error)}\n`);
  process.exitCode = 1;
}

/** The text of an error for the operator. Unexpected errors include their stack. */
function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (explained.some((type) => error instanceof type)) return error.message;
  return connectionProblem(error) ?? error.stack ?? error.message;
}
