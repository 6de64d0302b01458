/**
 * Resources whose state the audit log compares before and after each request that changes them.
 * Features contribute them. This extension point is part of the platform because the audit log
 * itself uses some of these features.
 */
import type { Tx } from '../database/database.ts';
import { extensionPoint } from '../feature/extension-point.ts';
import type { OrganizationId } from '../values/ids.ts';

export type AuditedResource = {
  /**
   * The path of its routes as declared, such as `/v1/webhooks/:id`. Routes below it, such as
   * `/v1/webhooks/:id/rotate-secret`, are compared as well.
   */
  readonly path: string;
  /**
   * Reads its fields by their API names, or null if it does not exist. The audit log stores the
   * result, so leave out secrets and fields that change by themselves, such as `lastUsedAt`.
   *
   * @param id the first parameter of the path, as sent by the client
   */
  readonly read: (tx: Tx, organizationId: OrganizationId, id: string) => Promise<object | null>;
  /** The schema of fields whose value or query string is hidden: see `secret-fields.ts`. */
  readonly secrets?: object;
};

export const auditedResources = extensionPoint<AuditedResource>('audited resources');
