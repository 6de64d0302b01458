/**
 * The composition root: opens the platform, builds the features and starts the work of each role.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { publicUrlOf } from '../platform/settings/config.ts';
import { serviceName } from '../platform/database/database.ts';
import { randomName } from '../platform/values/ids.ts';
import type { Metrics } from '../platform/metrics/metrics.ts';
import { apiTags, errorKinds, extensionsOf } from './composition.ts';
import type { Config } from './config.ts';
import { drainDelayMs } from './drain-delay.ts';
import { features } from './features.ts';
import { findFreePort, startListening } from './http.ts';
import { collectServiceMetrics } from './metrics.ts';
import { openPlatform, type FreshKeys } from './platform-parts.ts';
import { projectionWork } from './projections.ts';
import { Shutdown } from './shutdown.ts';
import { startWork } from './work.ts';

export type Service = AsyncDisposable & {
  /** The address of this process; null without the role `api`. */
  listeningUrl: string | null;
  publicUrl: string;
  /** Returns a URL that signs in to the console with this key. It works once, within an hour. */
  consoleLink: (secretKey: string) => string;
};

export type ServiceOptions = {
  log: Logger;
  /** Aborts the start. To stop a started service, dispose of it. */
  signal: AbortSignal;
  /**
   * Receives the keys that this start created as soon as they are valid, even if the start fails
   * later: they can't be read again.
   */
  onFreshKeys?: (keys: FreshKeys) => void;
  /** Whether SIGHUP reloads the settings of this process. */
  reloads?: boolean;
  /** Adds metrics of the code that runs the service. */
  measure?: (metrics: Metrics) => void;
  /** A publishable key given to everyone who opens the feed page, for demonstrations. */
  playerKey?: string;
};

/**
 * Starts the service and resolves once it accepts requests. Disposing of it drains it: it keeps
 * serving for the drain delay, then closes everything in the order of `shutdown.ts`.
 */
export async function startService(config: Config, options: ServiceOptions): Promise<Service> {
  const { log, signal, onFreshKeys = () => undefined, playerKey = null } = options;
  await using starting = new AsyncDisposableStack();
  const shutdown = starting.use(new Shutdown());
  // Checked before anything is created: if listening failed later, new keys would never be shown.
  const port = config.roles.includes('api') ? await findFreePort(config) : config.port;
  const publicUrl = publicUrlOf(config, port);
  const applicationName = serviceName(randomName(6));
  const platform = {
    log,
    signal,
    publicUrl,
    applicationName,
    reloads: options.reloads ?? false,
    extensionsOf: extensionsOf(features.list),
  };
  const opened = await openPlatform(config, platform, shutdown);
  let phase: 'serving' | 'draining' | 'closing' = 'serving';
  const given = {
    ...opened,
    isDraining: () => phase !== 'serving',
    isClosing: () => phase === 'closing',
    onFreshKeys,
    playerKey,
  };
  const { parts, contributions } = await features.build(given, config);
  for (const { resources = [] } of contributions) {
    for (const resource of resources) shutdown.add('features', resource);
  }
  signal.throwIfAborted();
  const workers = startWork(parts, [...contributions, projectionWork(config, parts)], shutdown);
  options.measure?.(parts.metrics);
  collectServiceMetrics(parts.metrics, { ...parts, workers: () => workers });
  const { authenticate, admit } = parts.authenticator;
  const { keyOf: sessionKey, createLink } = parts.consoleSessions;
  const serving = {
    config,
    port,
    authenticate,
    admit,
    observe: parts.observeRequest,
    sessionKey,
    sessionPerson: parts.personSessions.personOf,
    scopeOf: parts.scopeOf,
    lowestRole: parts.lowestRole,
    errors: errorKinds(features.list),
    tags: apiTags(features.list),
    contributions,
  };
  const listeningUrl = config.roles.includes('api')
    ? await startListening(parts, serving, shutdown)
    : null;
  const running = starting.move();
  return {
    listeningUrl,
    publicUrl,
    consoleLink: (secretKey) => publicUrl + createLink(secretKey),
    async [Symbol.asyncDispose]() {
      phase = 'draining';
      if (listeningUrl !== null) await delay(await drainDelayMs(config, parts.db, applicationName));
      phase = 'closing';
      await running.disposeAsync();
    },
  };
}
