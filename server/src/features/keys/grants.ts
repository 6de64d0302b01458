/** Limits on granting: a key can't create or rotate one with more rights than its own. */
import type { Db } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/http/errors.ts';
import type { Principal } from '../../platform/http/principal.ts';
import { covers } from '../../platform/http/scopes.ts';
import { parseTypeId, type ApiKeyId } from '../../platform/values/ids.ts';
import { findRights } from './queries.ts';

/** Null means no limit. */
export type KeyRights = {
  readonly scopes: readonly string[] | null;
  /** Requests in any 60 seconds. */
  readonly rateLimit: number | null;
  readonly expiresAt: Date | null;
};

/** Whether a key with the rights of `granter` may create one with those of `wanted`. */
export function mayGrant(granter: KeyRights, wanted: KeyRights): boolean {
  return (
    hasScopes(granter.scopes, wanted.scopes) &&
    isAtMost(wanted.rateLimit, granter.rateLimit) &&
    isAtMost(wanted.expiresAt?.getTime() ?? null, granter.expiresAt?.getTime() ?? null)
  );
}

/** Whether the held scopes include the wanted ones. */
export function hasScopes(held: readonly string[] | null, wanted: readonly string[] | null) {
  return held === null || (wanted !== null && wanted.every((scope) => covers(held, scope)));
}

function isAtMost(value: number | null, bound: number | null): boolean {
  return bound === null || (value !== null && value <= bound);
}

/** @throws {ApiError} FORBIDDEN */
export async function requireMayGrant(db: Db, caller: Principal, wanted: KeyRights): Promise<void> {
  if (!mayGrant(await rightsOfCaller(db, caller), wanted)) throw forbidden();
}

/**
 * Checks the right to rotate a key. Checked before `mutate`, which would replay the response to
 * anyone who repeats the request. A key's scopes and limit never change, and its expiry only moves
 * closer.
 * @throws {ApiError} NOT_FOUND, FORBIDDEN
 */
export async function requireMayRotate(db: Db, caller: Principal, id: string): Promise<void> {
  await requireMayGrant(db, caller, await rightsOf(db, caller, parseTypeId('key', id)));
}

/**
 * Checks the right to revoke a key, which depends only on scopes. Call before `mutate`.
 * @throws {ApiError} NOT_FOUND, FORBIDDEN
 */
export async function requireMayRevoke(db: Db, caller: Principal, id: string): Promise<void> {
  const { scopes } = await rightsOf(db, caller, parseTypeId('key', id));
  if (!hasScopes(caller.scopes, scopes)) throw forbidden();
}

/** A person has the scopes of their role. */
async function rightsOfCaller(db: Db, caller: Principal): Promise<KeyRights> {
  const { keyId, scopes } = caller;
  return keyId === null
    ? { scopes, rateLimit: null, expiresAt: null }
    : rightsOf(db, caller, keyId);
}

/** The rights of a key in the caller's organization, active or not. */
async function rightsOf(
  db: Db,
  { organizationId }: Principal,
  keyId: ApiKeyId | null,
): Promise<KeyRights> {
  const rights = keyId && (await findRights(db, organizationId, keyId));
  if (rights === null) throw new ApiError('NOT_FOUND');
  return rights;
}

function forbidden(): ApiError {
  return new ApiError('FORBIDDEN', {
    message:
      'A key or a person can only create and change keys that are no more powerful than themselves: with no other ' +
      'scopes, no higher rate limit and no later expiry.',
  });
}
