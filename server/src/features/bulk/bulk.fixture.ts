/** What the tests of bulk operations share. */
import { query } from '../../../test/seed.ts';
import { startService, type Reply, type TestService } from '../../../test/service.ts';

export type BulkService = TestService & {
  /** Posts a bulk operation, with the limit out of the way. */
  bulk: (operation: string, body: object) => Promise<Reply>;
  /** An item as the API shows it. */
  item: (id: string) => Promise<Reply['body']>;
};

export const unknownId = '01890000-0000-7000-8000-000000000000';
/** The error of an item that is not there. */
export const notFound = {
  code: 'NOT_FOUND',
  message: 'There is no content item with this id.',
};

/** The service without background jobs. */
export async function startBulkService(): Promise<BulkService> {
  const service = await startService({ REELFEED_ROLES: 'api' });
  return {
    ...service,
    async bulk(operation, body) {
      await query(service, 'delete from bulk_allowance');
      return service.call('POST', `/v1/content/bulk/${operation}`, { body });
    },
    item: async (id) => (await service.call('GET', `/v1/content/${id}`)).body.data,
  };
}
