import type { RouteSample } from '../../../test/route-samples.ts';
import { query } from '../../../test/seed.ts';
import { eventually, type TestService } from '../../../test/service.ts';

export function routeSamples(
  service: TestService,
  receiverUrl: string,
): Record<string, RouteSample> {
  const range = { startDate: '2026-01-01', endDate: '2026-01-31' };
  const make = async () => {
    const body = { dataset: 'content', format: 'csv', ...range };
    const made = await service.call('POST', '/v1/exports', { body });
    return `/v1/exports/${made.body.data.id}`;
  };
  // A job that no worker advances.
  const makeUnfinished = async () => {
    const made = await make();
    await eventually('the export', async () => {
      const { body } = await service.call('GET', made);
      return body.data.status === 'ready' ? true : null;
    });
    const id = made.slice(made.lastIndexOf('/') + 1);
    const begin = `update data_export set status = 'pending', expires_at = null where export_id = $1`;
    await query(service, begin, [id]);
    return made;
  };
  const schedule = {
    dataset: 'events',
    format: 'parquet',
    compression: 'zstd',
    filter: { country: 'DE' },
    delayHours: 25,
  };
  const destination = {
    bucket: 'acme-lake',
    prefix: 'reelfeed',
    // Accepts any PUT.
    endpoint: new URL(receiverUrl).origin,
    accessKeyId: 'AKIAEXAMPLE',
    secretAccessKey: 'a-secret-access-key',
    every: 'hour',
    filter: { device: 'ios' },
  };
  const makeDestination = async () => {
    const made = await service.call('POST', '/v1/exports/destinations', { body: destination });
    return `/v1/exports/destinations/${made.body.data.id}`;
  };
  const makeSchedule = async () => {
    const made = await service.call('POST', '/v1/exports/schedules', { body: schedule });
    return `/v1/exports/schedules/${made.body.data.id}`;
  };
  return {
    createExport: async () => [
      '/v1/exports',
      { body: { dataset: 'events', format: 'ndjson', compression: 'gzip', ...range } },
    ],
    listExports: async () => ['/v1/exports?limit=2'],
    getExport: async () => [await make()],
    cancelExport: async () => [`${await makeUnfinished()}/cancel`],
    deleteExport: async () => [await make()],
    listExportSchemas: async () => ['/v1/exports/schemas'],
    createExportSchedule: async () => ['/v1/exports/schedules', { body: schedule }],
    listExportSchedules: async () => {
      await makeSchedule();
      return ['/v1/exports/schedules'];
    },
    deleteExportSchedule: async () => [await makeSchedule()],
    createExportDestination: async () => ['/v1/exports/destinations', { body: destination }],
    listExportDestinations: async () => {
      await makeDestination();
      return ['/v1/exports/destinations'];
    },
    deleteExportDestination: async () => [await makeDestination()],
  };
}
