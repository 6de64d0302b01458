/**
 * Records changes that customers make in the portal, because their requests have no key that would
 * identify them.
 */
import type { Tx } from '../../../platform/database/database.ts';
import { extensionPoint, type ExtensionsOf } from '../../../platform/feature/extension-point.ts';
import type { OrganizationId, WebhookId } from '../../../platform/values/ids.ts';

export type PortalChange = {
  readonly organizationId: OrganizationId;
  readonly customer: string;
  readonly action: string;
  readonly resourceId: WebhookId;
};

/** Called within the transaction of a change. */
export type RecordPortalChange = (tx: Tx, change: PortalChange) => Promise<void>;

/** An extension point, because the audit log itself records webhook events. */
export const portalAuditors = extensionPoint<RecordPortalChange>('portal auditors');

export function toPortalRecorder(extensionsOf: ExtensionsOf): RecordPortalChange {
  const auditors = extensionsOf(portalAuditors);
  return async (tx, change) => {
    for (const record of auditors) await record(tx, change);
  };
}
