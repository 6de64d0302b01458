import { LRUCache } from 'lru-cache';
import { inTransaction, type Db } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/http/errors.ts';
import type { Admit, Authenticate, Principal } from '../../platform/http/principal.ts';
import type { ApiKeyId } from '../../platform/ids.ts';
import { createAdmission } from './allowance.ts';
import { hashKey, keyType } from './key-format.ts';
import { findKeyOwner, touchKeys, type KeyOwner, type OrganizationOrigins } from './queries.ts';

/** Shorter than the five seconds within which every process must reject a revoked key. */
const cachedForMs = 3_000;
const maxCachedKeys = 10_000;
const touchIntervalMs = 60_000;

/** Expiry is exact however long a key is cached, because the cache holds its monotonic deadline. */
type Known = KeyOwner & { expiresAt: number };

export type Authenticator = {
  authenticate: Authenticate;
  admit: Admit;
  /** Clears the cache, so that a key revoked by this process is rejected at once. */
  forget(): void;
  /** Stores which keys were used since the last call. */
  recordUse(): Promise<void>;
};

/** Finds the owner of a key: in memory, then by the checksum, then in the database. */
export function createAuthenticator(
  db: Db,
  organizations: OrganizationOrigins,
  publishableRateLimit: number | null = null,
): Authenticator {
  const owners = new LRUCache<string, Promise<Known | null>>({
    max: maxCachedKeys,
    ttl: cachedForMs,
  });
  const used = new Set<ApiKeyId>();
  const touchedAt = new LRUCache<ApiKeyId, number>({ max: maxCachedKeys });

  function lookUp(key: string): Promise<Known | null> {
    const known = owners.get(key);
    if (known !== undefined) return known;
    if (keyType(key) === null) return Promise.resolve(null);
    const owner = readOwner(db, organizations, key);
    owners.set(key, owner);
    owner.catch(() => owners.delete(key));
    return owner;
  }

  return {
    admit: createAdmission(db),
    async authenticate(bearer) {
      if (bearer === null) throw new ApiError('UNAUTHORIZED');
      const principal = toPrincipal(await lookUp(bearer), publishableRateLimit);
      used.add(principal.keyId);
      return principal;
    },
    forget: () => owners.clear(),
    async recordUse() {
      const nowMs = performance.now();
      const due = [...used].filter(
        (keyId) => nowMs - (touchedAt.get(keyId) ?? -Infinity) >= touchIntervalMs,
      );
      used.clear();
      if (due.length === 0) return;
      await inTransaction(db, (tx) => touchKeys(tx, due));
      for (const keyId of due) touchedAt.set(keyId, nowMs);
    },
  };
}

async function readOwner(
  db: Db,
  organizations: OrganizationOrigins,
  key: string,
): Promise<Known | null> {
  const owner = await findKeyOwner(db, organizations, hashKey(key));
  return owner && { ...owner, expiresAt: performance.now() + owner.expiresInMs };
}

function toPrincipal(owner: Known | null, publishableRateLimit: number | null): Principal {
  if (owner === null) throw new ApiError('UNAUTHORIZED');
  if (owner.isRevoked) throw new ApiError('KEY_REVOKED');
  if (owner.expiresAt <= performance.now()) throw new ApiError('KEY_EXPIRED');
  const { organizationId, keyId, family, type, scopes, allowedOrigins } = owner;
  const fallback = type === 'publishable' ? publishableRateLimit : null;
  const rateLimit = owner.rateLimit ?? fallback;
  return { organizationId, keyId, family, type, scopes, rateLimit, allowedOrigins };
}
