/**
 * The audit log: who changed what, when, from which key.
 *
 * Requests need no call of their own: whatever runs through `mutations.mutate` on a route for secret
 * keys is recorded in the transaction of its effect. Changes that no request makes (by the command
 * line, or by the service itself) call `recordAudit`.
 */
import type { FastifyRequest } from 'fastify';
import type { Tx } from '../../platform/database/database.ts';
import { newTypeId, type ApiKeyId, type OrganizationId } from '../../platform/ids.ts';
import { withoutSecrets } from '../../platform/http/secret-fields.ts';
import type { Answer } from '../../platform/idempotency/idempotency.ts';
import { toChanges } from './changes.ts';
import { insertEntry } from './queries.ts';

export { pruneAudit } from './maintenance.ts';

export const actors = ['key', 'command_line', 'service'] as const;

export type AuditActor =
  | { type: 'key'; keyId: ApiKeyId; requestId: string }
  | { type: 'command_line' }
  | { type: 'service' };

export type AuditEntry = {
  organizationId: OrganizationId;
  actor: AuditActor;
  /** A verb and its object, as operations of the API are named: `completeExperiment`. */
  action: string;
  resourceId: string | null;
  /** The new values of the changed fields. They hold no secret: the caller leaves those out. */
  changes?: unknown;
};

/**
 * Records a change in its transaction without a separate round trip: the entry is sent with the
 * next statement or with the commit.
 */
export function recordAudit(tx: Tx, entry: AuditEntry): Promise<void> {
  const { actor } = entry;
  return insertEntry(tx, {
    organizationId: entry.organizationId,
    auditId: newTypeId('aud'),
    action: entry.action,
    actor: actor.type,
    keyId: actor.type === 'key' ? actor.keyId : null,
    resourceId: entry.resourceId,
    changes: toChanges(entry.changes),
    requestId: actor.type === 'key' ? actor.requestId : null,
  });
}

/** Records what a request with a secret key has changed; other requests are not recorded. */
export async function auditRequest(tx: Tx, request: FastifyRequest, answer: Answer): Promise<void> {
  const { config, schema } = request.routeOptions;
  const { principal } = request;
  if (config.access !== 'secret' || principal === null) return;
  const { organizationId, keyId } = principal;
  await recordAudit(tx, {
    organizationId,
    actor: { type: 'key', keyId, requestId: request.id },
    action: schema?.operationId ?? `${request.method} ${request.routeOptions.url}`,
    resourceId: resourceOf(request, answer),
    changes: bodyWithoutSecrets(request),
  });
}

/** What the body's schema names, without what it marks as secret; null for a body without a schema. */
function bodyWithoutSecrets({ body, routeOptions }: FastifyRequest): unknown {
  const { config, schema } = routeOptions;
  const described = config.describedBody?.['application/json']?.schema ?? schema?.body;
  if (typeof described !== 'object' || described === null) return null;
  return withoutSecrets(described, body ?? null);
}

/**
 * The id in the path, or that of the object that the request created. Never the id of a viewer,
 * which would stay in the audit log after the viewer is erased.
 */
function resourceOf({ params }: FastifyRequest, { data }: Answer): string | null {
  const given = (params ?? {}) as Record<string, unknown>;
  if ('userId' in given) return null;
  const [inPath] = Object.values(given);
  if (typeof inPath === 'string') return inPath;
  const made = (typeof data === 'object' ? data : null) as Record<string, unknown> | null;
  const id = made?.['id'] ?? made?.['jobId'];
  return typeof id === 'string' ? id : null;
}
