import { Type } from 'typebox';
import type { AuditedResource } from '../../../platform/http/audited-resource.ts';
import { secretQuery } from '../../../platform/http/secret-fields.ts';
import { parseTypeId } from '../../../platform/values/ids.ts';
import { findWebhook } from './endpoint-queries.ts';
import { presentWebhook } from './endpoints.ts';

const url = Type.String(secretQuery);

export const auditedWebhook: AuditedResource = {
  path: '/v1/webhooks/:id',
  secrets: Type.Object({ url, oauth: Type.Object({ tokenUrl: url }) }),
  async read(tx, organizationId, id) {
    const webhookId = parseTypeId('whk', id);
    const row = webhookId && (await findWebhook(tx, organizationId, webhookId));
    if (row === null) return null;
    // `failingSince` changes without anyone's action.
    return { ...presentWebhook(row), failingSince: null };
  },
};
