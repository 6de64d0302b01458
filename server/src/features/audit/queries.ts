import { sql, type RawBuilder } from 'kysely';
import { sendAhead, type Db, type Tx } from '../../platform/database/database.ts';
import { isBehind, type KeysetPage } from '../../platform/database/keyset.ts';
import type { OrganizationId } from '../../platform/values/ids.ts';
import { callerNames } from '../keys/keys.ts';
import type { Differences } from './differences.ts';

export type NewEntry = {
  organizationId: OrganizationId;
  auditId: string;
  action: string;
  actor: string;
  keyId: string | null;
  personId: string | null;
  systemUser: string | null;
  resourceId: string | null;
  /** JSON. */
  changes: string | null;
  /** JSON. */
  differences: string | null;
  requestId: string | null;
};

export async function insertEntry(tx: Tx, entry: NewEntry): Promise<void> {
  const insert = sql`
    insert into audit_entry (
      organization_id, audit_id, action, actor, api_key_id, person_id, resource_id, changes,
      differences, request_id, system_user_name
    ) values (
      ${entry.organizationId}, ${entry.auditId}, ${entry.action}, ${entry.actor}, ${entry.keyId},
      ${entry.personId}, ${entry.resourceId}, ${entry.changes}::jsonb,
      ${entry.differences}::jsonb, ${entry.requestId},
      ${entry.systemUser}
    )`;
  await sendAhead(tx, insert.compile(tx));
}

/** Makes other transactions that change the same resource wait for the end of this one. */
export async function lockResource(
  tx: Tx,
  organizationId: OrganizationId,
  resource: string,
): Promise<void> {
  const name = `audit ${organizationId} ${resource}`;
  await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 371))`.execute(tx);
}

export type EntryRow = {
  audit_id: string;
  recorded_at: Date;
  action: string;
  actor: 'key' | 'person' | 'command_line' | 'service';
  api_key_id: string | null;
  person_id: string | null;
  /** Name of the key or the person. */
  caller_name: string | null;
  resource_id: string | null;
  changes: unknown;
  differences: Differences | null;
  request_id: string | null;
  system_user_name: string | null;
  /** The exact time, for cursors. */
  position: string;
};

export type EntryFilter = {
  action: string | null;
  keyId: string | null;
  personId: string | null;
  resourceId: string | null;
  since: string | null;
  until: string | null;
};

export async function listEntries(
  db: Db,
  organizationId: OrganizationId,
  filter: EntryFilter,
  { limit, after }: KeysetPage,
): Promise<EntryRow[]> {
  const { rows } = await sql<EntryRow>`
    select entry.audit_id, entry.recorded_at, entry.action, entry.actor, entry.api_key_id,
      entry.person_id, caller.name as caller_name, entry.resource_id, entry.changes, entry.differences, entry.system_user_name,
      entry.request_id,
      entry.recorded_at::text as position
    from audit_entry as entry
    left join ${callerNames} caller on caller.organization_id = entry.organization_id
      and caller.api_key_id = coalesce(entry.person_id, entry.api_key_id)
    where ${matches(organizationId, filter)} 
      and ${isBehind('entry.recorded_at', 'entry.audit_id', after)}
    order by entry.recorded_at desc, entry.audit_id desc
    limit ${limit}`.execute(db);
  return rows;
}

export async function countEntries(
  db: Db,
  organizationId: OrganizationId,
  filter: EntryFilter,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from audit_entry as entry where ${matches(organizationId, filter)}
  `.execute(db);
  return rows[0]?.count ?? 0;
}

function matches(organizationId: OrganizationId, filter: EntryFilter): RawBuilder<unknown> {
  const conditions = [sql`entry.organization_id = ${organizationId}`];
  if (filter.action !== null) conditions.push(sql`entry.action = ${filter.action}`);
  if (filter.keyId !== null) conditions.push(sql`entry.api_key_id = ${filter.keyId}`);
  if (filter.personId !== null) conditions.push(sql`entry.person_id = ${filter.personId}`);
  if (filter.resourceId !== null) conditions.push(sql`entry.resource_id = ${filter.resourceId}`);
  if (filter.since !== null)
    conditions.push(sql`entry.recorded_at >= ${filter.since}::timestamptz`);
  if (filter.until !== null) conditions.push(sql`entry.recorded_at < ${filter.until}::timestamptz`);
  return sql.join(conditions, sql` and `);
}

/** Deletes at most `limit` entries older than `maxAgeMs`. Returns how many. */
export async function deleteOldEntries(tx: Tx, maxAgeMs: number, limit: number): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from audit_entry where (organization_id, audit_id) in (
      select organization_id, audit_id from audit_entry
      where recorded_at < now() - make_interval(secs => ${maxAgeMs / 1_000})
      order by recorded_at limit ${limit}
      for update skip locked
    )`.execute(tx);
  return Number(numAffectedRows);
}

export type StoredChanges = {
  readonly auditId: string;
  readonly changes: unknown;
  readonly differences: unknown;
};

/** The entries of an organization whose changes or differences contain one of these texts. */
export async function selectChangesWith(
  db: Db,
  organizationId: string,
  texts: readonly string[],
): Promise<StoredChanges[]> {
  const { rows } = await sql<StoredChanges>`
    select audit_id as "auditId", changes, differences from audit_entry
    where organization_id = ${organizationId}
      and exists (select from unnest(${texts}::text[]) as text
        where position(text in changes::text) > 0 or position(text in differences::text) > 0)`.execute(
    db,
  );
  return rows;
}

export async function replaceChanges(
  tx: Tx,
  organizationId: string,
  { auditId, changes, differences }: StoredChanges,
): Promise<void> {
  await sql`
    update audit_entry set changes = ${toJson(changes)}::jsonb, differences = ${toJson(differences)}::jsonb
    where organization_id = ${organizationId} and audit_id = ${auditId}`.execute(tx);
}

function toJson(value: unknown): string | null {
  return value === null ? null : JSON.stringify(value);
}
