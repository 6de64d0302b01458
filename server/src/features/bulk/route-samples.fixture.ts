import type { RouteSample } from '../../../test/route-samples.ts';
import { createItems, query } from '../../../test/seed.ts';
import { eventually, type TestService } from '../../../test/service.ts';

export function routeSamples(service: TestService): Record<string, RouteSample> {
  const unknown = '01890000-0000-7000-8000-000000000000';
  const items = async () => [...(await createItems(service, 2)), unknown];
  const job = async (): Promise<string> => {
    await createItems(service, 2, () => ({ tags: ['job'] }));
    const body = { operation: 'tag', filter: { tags: ['job'] }, update: { addTags: ['done'] } };
    const made = await service.call('POST', '/v1/content/bulk/jobs', { body });
    return `/v1/content/bulk/jobs/${made.body.data.jobId}`;
  };
  return {
    bulkUpdateContent: async () => {
      const changes = (await items()).map((id) => ({ id, title: 'Changed' }));
      return ['/v1/content/bulk/update', { body: { items: changes, continueOnError: true } }];
    },
    bulkDeleteContent: async () => [
      '/v1/content/bulk/delete',
      { body: { ids: await items(), continueOnError: true } },
    ],
    bulkTagContent: async () => [
      '/v1/content/bulk/tag',
      { body: { ids: await items(), addTags: ['a'], removeTags: ['b'] } },
    ],
    bulkSetVisibility: async () => [
      '/v1/content/bulk/visibility',
      { body: { ids: await items(), visibility: 'private' } },
    ],
    createBulkJob: async () => [
      '/v1/content/bulk/jobs',
      { body: { operation: 'unpublish', filter: { tags: ['a'] } } },
    ],
    cancelBulkJob: async () => {
      // Long enough not to end before it is cancelled.
      await query(
        service,
        `insert into content (organization_id, content_id, content_type, title, tags, playback_id)
        select organization_id, gen_random_uuid(), 'video', 'Item ' || n, '{long}', md5(n || random()::text)
        from organization, generate_series(1, 30000) n`,
      );
      const body = { operation: 'tag', filter: { tags: ['long'] }, update: { addTags: ['b'] } };
      const made = await service.call('POST', '/v1/content/bulk/jobs', { body });
      return [`/v1/content/bulk/jobs/${made.body.data.jobId}/cancel`];
    },
    listBulkJobs: async () => ['/v1/content/bulk/jobs'],
    getBulkJob: async () => {
      const path = await job();
      await eventually('the bulk job to end', async () => {
        const { body } = await service.call('GET', path);
        return body.data.status === 'complete' ? true : null;
      });
      return [path];
    },
    listBulkJobFailures: async () => [`${await job()}/failures`],
  };
}
