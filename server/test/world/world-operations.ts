/** Exports, bulk jobs, keys, deletions and erasures in every state. */
import { query } from '../seed.ts';
import { eventually, type TestService } from '../service.ts';
import { askOf, type Ask, type Data } from './ask.ts';
import { hostileTexts } from './hostile-texts.ts';

export type WorldKey = { id: string; key: string };
export type WorldKeys = Record<
  'publishable' | 'scoped' | 'limited' | 'expired' | 'revoked' | 'feedOnly',
  WorldKey
>;

export async function buildKeys(service: TestService): Promise<WorldKeys> {
  const ask = askOf(service);
  const make = (name: string, fields: object): Promise<WorldKey> =>
    ask('POST', '/v1/keys', { name, type: 'secret', ...fields });
  const keys = {
    publishable: await make(hostileTexts.emoji, { type: 'publishable' }),
    scoped: await make('Reads content', { scopes: ['content:read', 'analytics:read'] }),
    feedOnly: await make(hostileTexts.image, { type: 'publishable', scopes: ['feed:read'] }),
    limited: await make('Rate-limited', { rateLimit: 2 }),
    expired: await make('Expired', {}),
    revoked: await make(hostileTexts.hebrew, {}),
  };
  await query(
    service,
    `update api_key set created_at = clock_timestamp() - interval '2 days',
       expires_at = clock_timestamp() - interval '1 day' where api_key_id = $1`,
    [keys.expired.id],
  );
  await ask('DELETE', `/v1/keys/${keys.revoked.id}`);
  const rotated = await make('Rotated', {});
  await ask('POST', `/v1/keys/${rotated.id}/rotate`, { gracePeriod: 3_600 });
  return keys;
}

/**
 * Exports are requested by day, which must not be in the future. Returns ids by state or format.
 */
export async function buildExports(service: TestService): Promise<Record<string, string>> {
  const ask = askOf(service);
  const startDate = new Date(Date.now() - 3 * 86_400_000).toISOString().slice(0, 10);
  const endDate = new Date().toISOString().slice(0, 10);
  const ids: Record<string, string> = {};
  const wanted = [
    ['events', 'ndjson'],
    ['content', 'csv'],
    ['analytics', 'parquet'],
    ['content', 'ndjson'],
    ['events', 'csv'],
  ] as const;
  for (const [dataset, format] of wanted) {
    const body = { dataset, format, startDate, endDate };
    ids[`${dataset} ${format}`] = (await ask('POST', '/v1/exports', body)).id;
  }
  await eventually('the exports', async () => {
    const all: Data[] = await ask('GET', '/v1/exports');
    return all.every(({ status }) => status === 'ready') ? true : null;
  });
  // Sets states that would take an hour or a fault to reach.
  const states = `update data_export set status = $2,
    error_message = case when $2 = 'failed' then $3 end,
    completed_at = case when $2 in ('failed', 'expired') then completed_at end,
    expires_at = case when $2 = 'expired' then clock_timestamp() - interval '1 day' end,
    row_count = case when $2 = 'expired' then row_count end,
    file_size = case when $2 = 'expired' then file_size end
    where export_id = $1`;
  await query(service, states, [ids['content ndjson'], 'failed', hostileTexts.script]);
  await query(service, states, [ids['events csv'], 'expired', null]);
  return ids;
}

/** @returns ids of alerts by kind */
export async function buildAlerts(service: TestService): Promise<Record<string, string>> {
  const ask = askOf(service);
  const make = async (name: string, fields: object): Promise<string> =>
    (await ask('POST', '/v1/analytics/alerts', { name, ...fields })).id;
  const errors = { report: 'quality', metric: 'errorRate' };
  return {
    threshold: await make(hostileTexts.script, {
      ...errors,
      condition: { type: 'above', threshold: 0.5 },
    }),
    band: await make(hostileTexts.hebrew, {
      ...errors,
      filter: { appVersion: hostileTexts.formula },
      condition: { type: 'band', direction: 'above' },
      minData: 200,
    }),
  };
}

/** @returns ids of saved reports, and the id of a run of the first one */
export async function buildReports(
  service: TestService,
): Promise<{ reports: Record<string, string>; runId: string }> {
  const ask = askOf(service);
  const make = async (fields: object): Promise<string> =>
    (await ask('POST', '/v1/analytics/reports', { range: 'lastWeek', ...fields })).id;
  const plain = await make({ name: hostileTexts.script, report: 'overview' });
  const scheduled = await make({
    name: hostileTexts.hebrew,
    report: 'quality',
    query: { appVersion: hostileTexts.formula },
    schedule: { every: 'week', weekday: 1, hour: 7, timeZone: 'Asia/Tokyo' },
    postsWebhook: true,
  });
  const run = await ask('POST', `/v1/analytics/reports/${plain}/runs`);
  await ask('POST', `/v1/analytics/reports/${plain}/links`, {});
  return { reports: { plain, scheduled }, runId: run.id };
}

/** @returns ids of bulk jobs by state */
export async function buildJobs(service: TestService): Promise<Record<string, string>> {
  const ask = askOf(service);
  const run = async (body: object): Promise<string> => {
    const { jobId } = await ask('POST', '/v1/content/bulk/jobs', body);
    await eventually('a bulk job', async () => {
      const { status } = await ask('GET', `/v1/content/bulk/jobs/${jobId}`);
      return status === 'processing' ? null : true;
    });
    return jobId;
  };
  const filter = { tags: ['failed'] };
  const ids = {
    complete: await run({ operation: 'tag', filter, update: { addTags: [hostileTexts.script] } }),
    withFailures: await run({ operation: 'publish', filter }),
    cancelled: await run({ operation: 'tag', filter, update: { addTags: ['never'] } }),
  };
  // A job for so few items would end before it could be cancelled.
  await query(
    service,
    `update bulk_job set status = 'cancelled', successful_items = 1 where bulk_job_id = $1`,
    [ids.cancelled],
  );
  return ids;
}

/** A permanent deletion and an erasure. */
export async function buildRemovals(service: TestService, purgedId: string): Promise<void> {
  const ask: Ask = askOf(service);
  await ask('POST', '/v1/content/bulk/delete', { ids: [purgedId] });
  const erased = encodeURIComponent('erased viewer');
  await ask('DELETE', `/v1/users/data?userId=${erased}`);
  await eventually('the erasure', async () => {
    const { status } = await ask('GET', `/v1/users/data?userId=${erased}`);
    return status === 'complete' ? true : null;
  });
}
