/** Shared parts of the bulk operation tests. */
import { query } from '../seed.ts';
import { startService, type Reply, type TestService } from '../service.ts';

export type BulkService = TestService & {
  /** Posts a bulk operation after resetting the limit. */
  bulk: (operation: string, body: object) => Promise<Reply>;
  /** An item as presented by the API. */
  item: (id: string) => Promise<Reply['body']>;
};

export const unknownId = '01890000-0000-7000-8000-000000000000';
/** The error of a nonexistent item. */
export const notFound = {
  code: 'NOT_FOUND',
  message: 'There is no content item with this id.',
};

/** A service without background jobs. */
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
