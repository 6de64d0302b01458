/** The HTTP server with the routes of every feature. */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { statfs } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { FastifyRequest } from 'fastify';
import type { RequestObserver } from '../platform/http/request-log.ts';
import type { Admit, Authenticate, Principal } from '../platform/http/principal.ts';
import { describeCage, knownCage } from '../features/media/media.ts';
import { isReachable } from '../platform/database/database.ts';
import { describeReplica } from '../platform/database/read-replica.ts';
import type { Contribution } from '../platform/feature/feature.ts';
import type { ErrorKind } from '../platform/http/errors.ts';
import { followRequests } from '../platform/http/graceful-close.ts';
import { addHealthRoutes, type ReadinessCheck } from '../platform/http/health-routes.ts';
import { addressLimits } from '../platform/http/address-limit-settings.ts';
import { createAddressLimits } from '../platform/http/address-limits.ts';
import { redirectToHttps } from '../platform/http/https-redirect.ts';
import { explainListening } from '../platform/http/listen-problem.ts';
import { createHttpServer } from '../platform/http/server.ts';
import { ConfigurationError } from '../platform/settings/settings.ts';
import { StorageUnavailableError } from '../platform/storage/storage-errors.ts';
import { version } from '../version.ts';
import { readApiExamples } from './api-examples.ts';
import type { Config } from './config.ts';
import { observeRefusals, observeRequests } from './metrics.ts';
import type { LowestRole } from '../platform/http/roles.ts';
import type { ScopeOf } from '../platform/http/scopes.ts';
import type { PlatformParts } from './platform-parts.ts';
import type { Shutdown } from './shutdown.ts';

export type ServerOptions = {
  readonly config: Config;
  readonly port: number;
  readonly authenticate: Authenticate;
  readonly admit: Admit;
  readonly observe: RequestObserver;
  readonly sessionKey: (request: FastifyRequest) => Promise<string | null>;
  readonly sessionPerson: (request: FastifyRequest) => Promise<Principal | null>;
  readonly scopeOf: ScopeOf;
  readonly lowestRole: LowestRole;
  /** All error codes, for the API description. */
  readonly errors: readonly ErrorKind[];
  readonly tags: Readonly<Record<string, string>>;
  readonly contributions: readonly Contribution[];
};

/** Builds the HTTP server with the routes of all features and starts listening. */
export async function startListening(
  parts: PlatformParts,
  {
    config,
    port,
    authenticate,
    admit,
    observe,
    sessionKey,
    sessionPerson,
    scopeOf,
    lowestRole,
    errors,
    tags,
    contributions,
  }: ServerOptions,
  shutdown: Shutdown,
): Promise<string> {
  const { log, publicUrl, certificate, tracing, metrics, isDraining, isClosing } = parts;
  const measure = observeRequests(metrics);
  const server = await createHttpServer({
    log,
    publicUrl,
    version,
    certificate,
    tracing,
    isParentTrusted: config.tracesOfCallers === 'on',
    // HSTS for a default host name, such as localhost, would affect other programs on it.
    isHttpsOnly: certificate !== null && config.publicUrl?.startsWith('https:') === true,
    authenticate,
    admit,
    sessionKey,
    sessionPerson,
    scopeOf,
    lowestRole,
    errors,
    outgoing: Object.assign({}, ...contributions.map((one) => one.outgoing ?? {})),
    texts: { tags, examples: readApiExamples() },
    observe: (observation) => {
      measure(observation);
      observe(observation);
    },
    proxies: config,
    limitAddress: createAddressLimits(addressLimits(config), observeRefusals(metrics)),
    isDraining,
    isClosing,
  });
  const close = followRequests(server.app);
  const opened = shutdown.add('routes', new AsyncDisposableStack());
  addHealthRoutes(server.app, {
    checks: readinessChecks(parts, config),
    metrics,
    isDraining,
    facts: () => facts(parts),
  });
  for (const { routes } of contributions) await routes?.(server.app, opened);
  server.complete();
  const url = await server.app.listen({ port, host: config.host }).catch(explainListening(config));
  shutdown.add('server', {
    [Symbol.asyncDispose]: () => close(config.shutdownGraceMs),
  });
  await listenForPlain(parts, config, shutdown);
  return certificate === null ? url : url.replace(/^http:/, 'https:');
}

/** Opens the port that redirects to HTTPS, if one is configured. */
async function listenForPlain(
  { publicUrl }: PlatformParts,
  { tlsRedirectPort: port, host }: Config,
  shutdown: Shutdown,
): Promise<void> {
  if (port === 0) return;
  if (!publicUrl.startsWith('https:')) {
    throw new ConfigurationError(
      'REELFEED_TLS_REDIRECT_PORT requires a public URL that starts with https.',
    );
  }
  const redirecting = await redirectToHttps({ port, host }, publicUrl).catch(
    explainListening({ port, host }, 'REELFEED_TLS_REDIRECT_PORT'),
  );
  shutdown.add('server', redirecting);
}

/** One PostgreSQL WAL segment: with less free space, the next commit may already fail. */
const leastDatabaseBytes = 16 * 2 ** 20;

/**
 * Conditions for receiving requests. Below `REELFEED_MIN_FREE_BYTES` only uploads are refused:
 * behind a load balancer, a 503 here would take the feed down as well. If the embedded database
 * runs out of space, the process is not ready: nothing can be written, and reads may fail at any
 * moment.
 */
function readinessChecks({ db, storage }: PlatformParts, config: Config): ReadinessCheck[] {
  return [
    { name: 'database', check: async () => ((await isReachable(db)) ? null : 'is unreachable') },
    ...(config.databaseUrl === null ? [{ name: 'disk', check: () => checkDisk(config) }] : []),
    {
      name: 'storage',
      check: async () => {
        await storage.scratch.freeBytes();
        return storage.check().then(() => null, outOfReach);
      },
    },
  ];
}

async function checkDisk({ dataDir }: Config): Promise<string | null> {
  const { bavail, bsize } = await statfs(dataDir);
  return bavail * bsize < leastDatabaseBytes ? 'is full: the database cannot write' : null;
}

/** This text is public, so it does not name the bucket. `reelfeed doctor` gives the reason. */
function outOfReach(error: unknown): string {
  if (error instanceof StorageUnavailableError) return 'is unreachable';
  throw error;
}

/**
 * Facts that do not affect readiness: the sandbox level of the process that parses uploads, once it
 * is known, and the state of the read replica.
 */
function facts({ heavyReads }: PlatformParts): Record<string, string> {
  const cage = knownCage();
  const replica = heavyReads.state();
  return {
    ...(cage !== null && { mediaCage: describeCage(cage) }),
    ...(replica !== null && { readReplica: describeReplica(replica) }),
  };
}

/**
 * The range from which free ports are picked. It is outside the range for outgoing connections,
 * which could otherwise take a port that is free now.
 */
const freePorts = { first: 20_000, end: 32_000 } as const;
const freePortTries = 20;

/**
 * Checks that the port is free and returns it. For port 0, which tests use, picks a free port,
 * because generated URLs contain the number before the server listens.
 */
export async function findFreePort({ port, host }: Pick<Config, 'port' | 'host'>): Promise<number> {
  for (let tries = 1; ; tries += 1) {
    const candidate = port === 0 ? randomInt(freePorts.first, freePorts.end) : port;
    try {
      await probe(candidate, host);
      return candidate;
    } catch (error) {
      const isTaken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
      if (port === 0 && isTaken && tries < freePortTries) continue;
      explainListening({ port: candidate, host })(error);
    }
  }
}

async function probe(port: number, host: string): Promise<void> {
  const server = createServer().listen(port, host);
  await once(server, 'listening');
  server.close();
  await once(server, 'close');
}
