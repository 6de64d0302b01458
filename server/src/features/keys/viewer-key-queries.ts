import { sql } from 'kysely';
import type { Db, Tx } from '../../platform/database/database.ts';
import type { OrganizationId } from '../../platform/values/ids.ts';
import type { OrganizationOrigins } from './queries.ts';

export type ViewerKeyRow = {
  id: string;
  name: string;
  createdAt: Date;
  expiresAt: Date | null;
};

const columns = sql`viewer_key_id as id, name, created_at as "createdAt", expires_at as "expiresAt"`;
const isWorking = sql`(expires_at is null or expires_at > clock_timestamp())`;

export async function insertViewerKey(
  tx: Tx,
  key: { organizationId: OrganizationId; id: string; name: string; sealed: Buffer },
): Promise<ViewerKeyRow> {
  const { rows } = await sql<ViewerKeyRow>`
    insert into viewer_signing_key (organization_id, viewer_key_id, name, sealed)
    values (${key.organizationId}, ${key.id}, ${key.name}, ${key.sealed})
    returning ${columns}`.execute(tx);
  const [row] = rows;
  if (row === undefined) throw new Error('The viewer key was not stored.');
  return row;
}

/** Active keys, newest first. To count them, the caller must hold the organization's lock. */
export async function selectViewerKeys(
  db: Db,
  organizationId: OrganizationId,
): Promise<ViewerKeyRow[]> {
  const { rows } = await sql<ViewerKeyRow>`
    select ${columns} from viewer_signing_key
    where organization_id = ${organizationId} and ${isWorking}
    order by created_at desc, viewer_key_id desc`.execute(db);
  return rows;
}

/** Serializes requests that count an organization's viewer keys. */
export async function lockViewerKeys(tx: Tx, organizationId: OrganizationId): Promise<void> {
  await sql`
    select pg_advisory_xact_lock(hashtextextended(${`viewer keys ${organizationId}`}, 0))`.execute(
    tx,
  );
}

/** Makes an active key expire after a while. Returns its name, or null if there is no such key. */
export async function expireViewerKey(
  tx: Tx,
  organizationId: OrganizationId,
  id: string,
  afterSeconds: number,
): Promise<string | null> {
  const { rows } = await sql<{ name: string }>`
    update viewer_signing_key
    set expires_at = least(expires_at, clock_timestamp() + make_interval(secs => ${afterSeconds}))
    where organization_id = ${organizationId} and viewer_key_id = ${id} and ${isWorking}
    returning name`.execute(tx);
  return rows[0]?.name ?? null;
}

export async function deleteViewerKey(
  tx: Tx,
  organizationId: OrganizationId,
  id: string,
): Promise<ViewerKeyRow | null> {
  const { rows } = await sql<ViewerKeyRow>`
    delete from viewer_signing_key
    where organization_id = ${organizationId} and viewer_key_id = ${id} returning ${columns}`.execute(
    tx,
  );
  return rows[0] ?? null;
}

export type ViewerSigningKeys = {
  isRequired: boolean;
  keys: { id: string; sealed: Buffer; expiresAt: Date | null }[];
};

/** The keys and settings for verifying an organization's signatures. */
export async function selectSigningKeys(
  db: Db,
  organizations: OrganizationOrigins,
  organizationId: OrganizationId,
): Promise<ViewerSigningKeys> {
  const { rows } = await sql<{
    isRequired: boolean;
    id: string | null;
    sealed: Buffer | null;
    expiresAt: Date | null;
  }>`
    select require_signed_viewers as "isRequired", viewer_key_id as id, sealed,
      expires_at as "expiresAt"
    from ${organizations} organization
    left join viewer_signing_key signing on signing.organization_id = organization.organization_id
      and ${isWorking}
    where organization.organization_id = ${organizationId}`.execute(db);
  const keys = rows.flatMap(({ id, sealed, expiresAt }) =>
    id === null || sealed === null ? [] : [{ id, sealed, expiresAt }],
  );
  return { isRequired: rows[0]?.isRequired ?? false, keys };
}
