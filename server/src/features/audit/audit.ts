/**
 * The audit log: who changed what, when, with which key or as which person.
 *
 * Requests need no explicit call: everything that runs through `mutations.mutate` on a route for
 * secret keys and people is recorded in the transaction of its effect. Other changes (by the
 * command line or the service itself) call `recordAudit`. Resources that features contribute to
 * `auditedResources` are read before and after a request, and the entry contains their differences.
 * Webhooks receive each entry as `audit.recorded`, in the same transaction.
 */
import type { FastifyRequest } from 'fastify';
import type { Tx } from '../../platform/database/database.ts';
import type { ExtensionsOf } from '../../platform/feature/extension-point.ts';
import { auditedResources, type AuditedResource } from '../../platform/http/audited-resource.ts';
import {
  newTypeId,
  type ApiKeyId,
  type OrganizationId,
  type PersonId,
} from '../../platform/values/ids.ts';
import type { Principal } from '../../platform/http/principal.ts';
import { withoutSecrets } from '../../platform/http/secret-fields.ts';
import type { Answer, RecordMutation } from '../../platform/idempotency/idempotency.ts';
import { prepareEvent } from '../webhooks/webhooks.ts';
import { toChanges } from './changes.ts';
import { differencesOf, type Differences } from './differences.ts';
import { insertEntry, lockResource } from './queries.ts';
import { systemUser } from './system-user.ts';

export { pruneAudit } from './maintenance.ts';

export type AuditActor =
  | { type: 'key'; keyId: ApiKeyId; requestId: string }
  | { type: 'person'; personId: PersonId; requestId: string }
  | { type: 'command_line' }
  | { type: 'service' };

export type AuditEntry = {
  organizationId: OrganizationId;
  actor: AuditActor;
  /** A verb and its object, like API operation names: `completeExperiment`. */
  action: string;
  resourceId: string | null;
  /** The new values of the changed fields. The caller must exclude secrets. */
  changes?: unknown;
  /** Differences of the resource before and after. */
  differences?: Differences | null;
};

/** Records a change and its webhook event in the change's transaction. */
export async function recordAudit(tx: Tx, entry: AuditEntry): Promise<void> {
  const recordEvent = await prepareAuditEvent(tx, entry.organizationId);
  await recordBoth(tx, entry, recordEvent);
}

const prepareAuditEvent = (tx: Tx, organizationId: OrganizationId) =>
  prepareEvent(tx, organizationId, 'audit.recorded');

/** Both are sent with the next statement or with the commit. */
async function recordBoth(
  tx: Tx,
  entry: AuditEntry,
  recordEvent: Awaited<ReturnType<typeof prepareAuditEvent>>,
): Promise<void> {
  const { organizationId, actor, action, resourceId, differences } = entry;
  const auditId = newTypeId('aud');
  const requestId = 'requestId' in actor ? actor.requestId : null;
  const caller = {
    keyId: actor.type === 'key' ? actor.keyId : null,
    personId: actor.type === 'person' ? actor.personId : null,
    systemUser: actor.type === 'command_line' ? systemUser() : null,
  };
  await insertEntry(tx, {
    organizationId,
    auditId,
    action,
    actor: actor.type,
    ...caller,
    resourceId,
    changes: toChanges(entry.changes),
    differences: differences ? JSON.stringify(differences) : null,
    requestId,
  });
  await recordEvent({
    auditId,
    action,
    actor: { type: actor.type, ...caller },
    resourceId,
    requestId,
  });
}

/**
 * Records a change made without a request, with the differences before and after it.
 * @param read reads the state of the resource, like `AuditedResource`
 */
export async function recordChange<T>(
  tx: Tx,
  entry: AuditEntry,
  read: () => Promise<object | null>,
  work: () => Promise<T>,
): Promise<T> {
  const before = await read();
  const result = await work();
  await recordAudit(tx, { ...entry, differences: differencesOf(before, await read()) });
  return result;
}

/** Records changes by requests with a secret key or of a person; others are not recorded. */
export function createAuditor(extensionsOf: ExtensionsOf): RecordMutation {
  const resources = extensionsOf(auditedResources);
  return async (tx, request, work) => {
    const { config, schema, url = '' } = request.routeOptions;
    const { principal } = request;
    if (config.access !== 'secret' || principal === null) return work(tx);
    const { organizationId } = principal;
    const resource = resources.find(({ path }) => url === path || url.startsWith(`${path}/`));
    const compared = resource && (await readBefore(tx, organizationId, resource, request));
    const recordEvent = await prepareAuditEvent(tx, organizationId);
    const answer = await work(tx);
    const entry = {
      organizationId,
      actor: actorOf(principal, request.id),
      action: schema?.operationId ?? `${request.method} ${url}`,
      resourceId: resourceOf(request, answer),
      changes: bodyWithoutSecrets(request),
      differences: compared ? await compared() : null,
    };
    await recordBoth(tx, entry, recordEvent);
    return answer;
  };
}

/**
 * Reads a resource before a change. From then on, requests for the same resource wait for each
 * other, so that no change is attributed to someone else.
 * @returns a function that reads it again and compares
 */
async function readBefore(
  tx: Tx,
  organizationId: OrganizationId,
  { path, read, secrets }: AuditedResource,
  { params }: FastifyRequest,
): Promise<() => Promise<Differences | null>> {
  const [first = ''] = path.includes(':') ? Object.values(params ?? {}) : [];
  const id = String(first);
  await lockResource(tx, organizationId, `${path} ${id}`);
  const before = await read(tx, organizationId, id);
  return async () => differencesOf(before, await read(tx, organizationId, id), secrets);
}

function actorOf({ keyId, person }: Principal, requestId: string): AuditActor {
  if (person !== null) return { type: 'person', personId: person.personId, requestId };
  if (keyId === null) throw new Error('The caller is neither a key nor a person.');
  return { type: 'key', keyId, requestId };
}

/** The body's declared fields without those marked as secret; null for a body without a schema. */
function bodyWithoutSecrets({ body, routeOptions }: FastifyRequest): unknown {
  const { config, schema } = routeOptions;
  const described = config.describedBody?.['application/json']?.schema ?? schema?.body;
  if (typeof described !== 'object' || described === null) return null;
  return withoutSecrets(described, body ?? null);
}

/**
 * The id in the path, or of the object that the request created. Never a viewer's id, which would
 * stay in the audit log after the viewer is erased.
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
