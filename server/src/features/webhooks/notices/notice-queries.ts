import { sql } from 'kysely';
import type { Tx } from '../../../platform/database/database.ts';

/**
 * Marks and returns the active webhooks that have been failing for this long, have recipients and
 * have not been notified yet.
 */
export async function markNoticed(
  tx: Tx,
  afterMs: number,
): Promise<{ organizationId: string; webhookId: string }[]> {
  const { rows } = await sql<{ organizationId: string; webhookId: string }>`
    update webhook set noticed_since = failing_since
    where status = 'active' and options ? 'notify'
      and failing_since <= clock_timestamp() - ${afterMs} * interval '1 millisecond'
      and noticed_since is distinct from failing_since
    returning organization_id as "organizationId", webhook_id as "webhookId"`.execute(tx);
  return rows;
}
