/** SQL for portal links. Expired links remain until they are removed, but are never shown. */
import { sql } from 'kysely';
import type { Db, Tx } from '../../../platform/database/database.ts';
import { isBehind, type KeysetPage } from '../../../platform/database/keyset.ts';
import type { OrganizationId } from '../../../platform/values/ids.ts';

const shownColumns = ['link_id', 'customer', 'created_at', 'expires_at'] as const;
const isOpen = sql<boolean>`expires_at > clock_timestamp()`;

export type PortalLinkRow = {
  link_id: string;
  customer: string;
  created_at: Date;
  expires_at: Date;
};

type NewLink = {
  organizationId: OrganizationId;
  linkId: string;
  customer: string;
  tokenHash: Buffer;
  expiresInS: number;
};

/** Prevents other transactions from adding links to the organization. */
export async function lockLinks(tx: Tx, organizationId: OrganizationId): Promise<void> {
  await sql`
    select pg_advisory_xact_lock(hashtextextended(${`portal links ${organizationId}`}, 76))
  `.execute(tx);
}

export async function insertPortalLink(tx: Tx, link: NewLink): Promise<PortalLinkRow> {
  return tx
    .insertInto('webhook_portal_link')
    .values({
      organization_id: link.organizationId,
      link_id: link.linkId,
      customer: link.customer,
      token_hash: link.tokenHash,
      expires_at: sql<Date>`clock_timestamp() + ${link.expiresInS} * interval '1 second'`,
    })
    .returning(shownColumns)
    .executeTakeFirstOrThrow();
}

/** Newest first, for one customer, or for all if null. `position` is the exact creation time. */
export async function listLinks(
  db: Db,
  organizationId: OrganizationId,
  customer: string | null,
  { limit, after }: KeysetPage,
): Promise<(PortalLinkRow & { position: string })[]> {
  return db
    .selectFrom('webhook_portal_link')
    .select(shownColumns)
    .select(sql<string>`created_at::text`.as('position'))
    .where('organization_id', '=', organizationId)
    .where(isOpen)
    .$if(customer !== null, (query) => query.where('customer', '=', customer ?? ''))
    .where(isBehind('created_at', 'link_id', after))
    .orderBy('created_at', 'desc')
    .orderBy('link_id', 'desc')
    .limit(limit)
    .execute();
}

export async function countLinks(
  db: Db,
  organizationId: OrganizationId,
  customer: string | null,
): Promise<number> {
  const { count } = await db
    .selectFrom('webhook_portal_link')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('organization_id', '=', organizationId)
    .where(isOpen)
    .$if(customer !== null, (query) => query.where('customer', '=', customer ?? ''))
    .executeTakeFirstOrThrow();
  return count;
}

/** The owner of a link, or null if it is unknown, revoked or expired. */
export async function findLink(
  db: Db,
  tokenHash: Buffer,
): Promise<{ organizationId: OrganizationId; customer: string; expiresAt: Date } | null> {
  const row = await db
    .selectFrom('webhook_portal_link')
    .select(['organization_id', 'customer', 'expires_at'])
    .where('token_hash', '=', tokenHash)
    .where(isOpen)
    .executeTakeFirst();
  if (row === undefined) return null;
  return {
    organizationId: row.organization_id as OrganizationId,
    customer: row.customer,
    expiresAt: row.expires_at,
  };
}

/** @returns whether the link existed */
export async function deletePortalLink(
  tx: Tx,
  organizationId: OrganizationId,
  linkId: string,
): Promise<boolean> {
  const row = await tx
    .deleteFrom('webhook_portal_link')
    .where('organization_id', '=', organizationId)
    .where('link_id', '=', linkId)
    .where(isOpen)
    .returning('link_id')
    .executeTakeFirst();
  return row !== undefined;
}

export async function deleteExpiredPortalLinks(db: Db): Promise<void> {
  await sql`delete from webhook_portal_link where expires_at <= clock_timestamp()`.execute(db);
}
