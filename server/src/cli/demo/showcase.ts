/**
 * Adds content for the console pages that clips and viewers alone leave empty. Each part is created
 * only if there is none of its kind, so removed parts stay removed while another of the kind
 * exists.
 */
import { createAdmin, type Admin } from '@reelfeed/client/server';

type Parts = {
  readonly url: string;
  readonly secretKey: string;
  /** Host and port of this start's receiver. */
  readonly receiver: string;
};

const paths = ['/always', '/sometimes'] as const;

/** Webhooks come first, so that they receive the events of the clips. */
export async function addWebhooks(parts: Parts, signal: AbortSignal): Promise<void> {
  const admin = adminOf(parts);
  const { data: webhooks } = await admin.get('/v1/webhooks', { query: { limit: 100 }, signal });
  for (const path of paths) {
    const url = `https://${parts.receiver}${path}`;
    const known = webhooks.find((webhook) => webhook.url?.endsWith(path));
    if (known !== undefined) {
      // The receiver has another port at each start.
      await admin.patch('/v1/webhooks/{id}', { path: { id: known.id }, body: { url }, signal });
    } else if (webhooks.length === 0) {
      const description =
        path === '/always' ? 'Search index of the demo' : 'A receiver that fails now and then';
      await admin.post('/v1/webhooks', { body: { url, events: ['*'], description }, signal });
    }
  }
}

/** Settings, flags and rules for a feed. */
export async function addConfiguration(parts: Parts, signal: AbortSignal): Promise<void> {
  const admin = adminOf(parts);
  const { data: settings } = await admin.get('/v1/settings', { signal });
  if (settings.length === 0) {
    await putSetting(admin, 'player.accentColor', 'pink', signal);
    await putSetting(admin, 'player.autoplayDelayMs', 300, signal);
    await putSetting(admin, 'shop.banner', 'Free delivery until six', signal);
  }
  const { data: flags } = await admin.get('/v1/flags', { signal });
  if (flags.length === 0) {
    for (const [key, value] of [
      ['auto-advance', false],
      ['comments', true],
    ] as const) {
      await admin.put('/v1/flags/{key}', { path: { key }, body: { value }, signal });
    }
  }
}

function putSetting(admin: Admin, key: string, value: unknown, signal: AbortSignal) {
  return admin.put('/v1/settings/{key}', { path: { key }, body: { value }, signal });
}

/** Rules besides the pins, and keys as a team would have them. */
export async function addRulesAndKeys(parts: Parts, signal: AbortSignal): Promise<void> {
  const admin = adminOf(parts);
  const { data: rules } = await admin.get('/v1/ranking/rules', { query: { limit: 100 }, signal });
  if (rules.every(({ type }) => type === 'pin')) {
    const boost = { type: 'boost' as const, match: { tags: ['nature'] }, factor: 1.3 };
    const suppress = { type: 'suppress' as const, match: { tags: ['test'] }, factor: 0.5 };
    for (const body of [boost, suppress]) await admin.post('/v1/ranking/rules', { body, signal });
  }
  const { data: keys } = await admin.get('/v1/keys', { query: { limit: 100 }, signal });
  const named = new Set(keys.map(({ name }) => name));
  if (!named.has('Dashboard')) {
    await admin.post('/v1/keys', {
      body: { type: 'secret', name: 'Dashboard', scopes: ['analytics:read', 'content:read'] },
      signal,
    });
  }
}

/**
 * Adds alerts, one of which fires because the demo has more viewers than it allows, and a metric
 * over custom events.
 */
export async function addAlertsAndMetrics(parts: Parts, signal: AbortSignal): Promise<void> {
  const admin = adminOf(parts);
  const { data: alerts } = await admin.get('/v1/analytics/alerts', { signal });
  if (alerts.length === 0) {
    const above = (threshold: number) => ({ type: 'above' as const, threshold });
    for (const body of [
      { name: 'Clips fail', report: 'quality', metric: 'errorRate', condition: above(0.2) },
      {
        name: 'A busy day',
        report: 'overview',
        metric: 'plays',
        condition: above(100),
        windowHours: 24,
      },
    ] as const) {
      await admin.post('/v1/analytics/alerts', { body, signal });
    }
  }
  const { data: metrics } = await admin.get('/v1/metrics', { signal });
  if (metrics.length === 0) {
    const body = {
      name: 'signups',
      description: 'Viewers who create an account after a clip.',
      type: 'count',
      event: 'custom.signup',
    } as const;
    await admin.post('/v1/metrics', { body, signal });
  }
}

/** Adds an export of yesterday and today once there is something to export. */
export async function addExport(parts: Parts, signal: AbortSignal): Promise<void> {
  const admin = adminOf(parts);
  const { data: all } = await admin.get('/v1/exports', { query: { limit: 1 }, signal });
  if (all.length > 0) return;
  const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
  const body = { dataset: 'events', format: 'csv', startDate: day(1), endDate: day(0) } as const;
  await admin.post('/v1/exports', { body, signal });
}

function adminOf({ url, secretKey }: Parts): Admin {
  return createAdmin({ baseUrl: url, secretKey });
}
