/**
 * Links for the operator's customers. A link's token is random and stored as a hash, so the link
 * can be revoked. The token is in the link's fragment, so it reaches neither logs nor other sites.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { Db, Tx } from '../../../platform/database/database.ts';
import { ApiError } from '../../../platform/http/errors.ts';
import { newTypeId, type OrganizationId } from '../../../platform/values/ids.ts';
import {
  countLinks,
  deletePortalLink,
  findLink,
  insertPortalLink,
  lockLinks,
  type PortalLinkRow,
} from './link-queries.ts';

export type PortalVisitor = { readonly organizationId: OrganizationId; readonly customer: string };
export type PortalVisit = PortalVisitor & { readonly expiresAt: Date };

const maxLinks = 1_000;
const tokenForm = /^Bearer (whp_[\w-]{43})$/;

export function presentLink({ link_id, customer, created_at, expires_at }: PortalLinkRow) {
  return {
    id: link_id,
    customer,
    createdAt: created_at.toISOString(),
    expiresAt: expires_at.toISOString(),
  };
}

/** @throws {ApiError} LIMIT_EXCEEDED */
export async function createLink(
  tx: Tx,
  { organizationId, customer }: PortalVisitor,
  expiresInS: number,
): Promise<{ row: PortalLinkRow; token: string }> {
  await lockLinks(tx, organizationId);
  if ((await countLinks(tx, organizationId, null)) >= maxLinks) {
    const message = `An organization can have at most ${maxLinks} portal links at a time. Revoke some first.`;
    throw new ApiError('LIMIT_EXCEEDED', { message });
  }
  const token = `whp_${randomBytes(32).toString('base64url')}`;
  const link = { organizationId, linkId: newTypeId('whl'), customer, expiresInS };
  return { row: await insertPortalLink(tx, { ...link, tokenHash: hashOf(token) }), token };
}

/** @throws {ApiError} NOT_FOUND */
export async function revokeLink(
  tx: Tx,
  organizationId: OrganizationId,
  linkId: string,
): Promise<void> {
  if (!(await deletePortalLink(tx, organizationId, linkId))) throw new ApiError('NOT_FOUND');
}

/** @throws {ApiError} UNAUTHORIZED */
export async function findVisitor(db: Db, authorization: string | undefined): Promise<PortalVisit> {
  const token = tokenForm.exec(authorization ?? '')?.[1];
  const visitor = token === undefined ? null : await findLink(db, hashOf(token));
  if (visitor !== null) return visitor;
  throw new ApiError('UNAUTHORIZED', {
    message: 'The link is not valid, has expired or was revoked. Ask for a new one.',
  });
}

/** 256 random bits need no slow hash. */
function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
