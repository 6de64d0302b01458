import type { RouteSample } from '../../../test/route-samples.ts';
import type { TestService } from '../../../test/service.ts';

export function routeSamples(service: TestService): Record<string, RouteSample> {
  const body = {
    name: 'Plays of the week',
    report: 'overview',
    query: { device: 'ios', breakdown: 'country', top: 5 },
    range: 'lastWeek',
    schedule: { every: 'week', weekday: 1, hour: 7, timeZone: 'Europe/Berlin' },
    postsWebhook: true,
  };
  const create = async (): Promise<string> => {
    const made = await service.call('POST', '/v1/analytics/reports', { body });
    return `/v1/analytics/reports/${made.body.data.id}`;
  };
  const make = async (what: 'runs' | 'links'): Promise<string> => {
    const path = `${await create()}/${what}`;
    const made = await service.call('POST', path, what === 'links' ? { body: {} } : {});
    return `${path}/${made.body.data.id}`;
  };
  return {
    createReport: async () => ['/v1/analytics/reports', { body }],
    listReports: async () => ['/v1/analytics/reports'],
    getReport: async () => [await create()],
    updateReport: async () => [await create(), { body: { isEnabled: false } }],
    deleteReport: async () => [await create()],
    runReport: async () => [`${await create()}/runs`],
    listReportRuns: async () => [`${await create()}/runs`],
    getReportRun: async () => [await make('runs')],
    createReportLink: async () => [`${await create()}/links`, { body: { expiresInDays: 7 } }],
    listReportLinks: async () => [`${await create()}/links`],
    deleteReportLink: async () => [await make('links')],
  };
}
