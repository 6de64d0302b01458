import { metricsContentType, type Metrics } from '../metrics/metrics.ts';
import { coalesce } from '../async/coalesce.ts';
import { ApiError } from './errors.ts';
import type { HttpApp } from './app.ts';

/** Conditions for receiving requests. Each check returns a problem, or null. */
export type ReadinessCheck = { name: string; check: () => Promise<string | null> };

export type HealthParts = {
  checks: readonly ReadinessCheck[];
  metrics: Metrics;
  isDraining: () => boolean;
  /** Facts that `/readyz` reports in addition to its checks. */
  facts: () => Readonly<Record<string, string>>;
};

const checkTimeoutMs = 2_000;

/** Metrics need no key, and collecting them queries the database. */
const metricsCacheMs = 1_000;

/**
 * `/healthz` checks only the process; `/readyz` checks the database, its disk and the storage.
 * Migrations need no check, because every start applies them before listening.
 */
export function addHealthRoutes(
  app: HttpApp,
  { checks, metrics, isDraining, facts }: HealthParts,
): void {
  const config = { access: 'public', limitedAs: 'nothing' } as const;
  const expose = coalesce(() => metrics.expose(), metricsCacheMs);
  const runChecks = coalesce(() => Promise.all(checks.map(runCheck)), 0);
  const schema = { hide: true };

  app.get('/healthz', { config, schema }, () => ({ status: 'ok' }));

  app.get('/readyz', { config, schema }, async (_request, reply) => {
    const results = [...(await runChecks())];
    if (isDraining()) results.push({ name: 'draining', problem: 'the process is shutting down' });
    const isReady = results.every(({ problem }) => problem === null);
    return reply.status(isReady ? 200 : 503).send({
      status: isReady ? 'ready' : 'not ready',
      checks: Object.fromEntries(results.map(({ name, problem }) => [name, problem ?? 'ok'])),
      ...facts(),
    });
  });

  app.get('/metrics', { config, schema }, async (_request, reply) =>
    reply.type(metricsContentType).send(await expose()),
  );

  app.get('/', { config, schema }, (_request, reply) => reply.redirect('console/', 302));
}

/** A check that hangs counts as failed. Problems are sentences without internal details. */
async function runCheck({ name, check }: ReadinessCheck) {
  const timeout = Promise.withResolvers<string>();
  const timer = setTimeout(() => timeout.resolve('does not respond'), checkTimeoutMs);
  try {
    return { name, problem: await Promise.race([check(), timeout.promise]) };
  } catch (error) {
    return { name, problem: error instanceof ApiError ? error.message : 'does not work' };
  } finally {
    clearTimeout(timer);
  }
}
