import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { BatchWriter } from '../../platform/async/batch-writer.ts';
import { inTransaction, type Db } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/http/errors.ts';
import type { Admit, Authenticate, KeyPrincipal } from '../../platform/http/principal.ts';
import type { ApiKeyId } from '../../platform/values/ids.ts';
import { createAdmission } from './allowance.ts';
import { KnownOwners, type Known } from './known-owners.ts';
import { touchKeys, type OrganizationOrigins } from './queries.ts';

const maxCachedKeys = 10_000;
/**
 * Interval at which a key's last use is written, and maximum time that a write waits to be batched.
 */
const touchIntervalMs = 60_000;
const touchLingerMs = 10_000;

/** Disposing writes the pending last uses. */
export type Authenticator = AsyncDisposable & {
  authenticate: Authenticate;
  admit: Admit;
  /** Clears the cache, so that a key revoked by this process is rejected immediately. */
  forget(): void;
};

/** Finds the owner of a key: in memory, then by checksum, then in the database. */
export function createAuthenticator(
  db: Db,
  log: Logger,
  organizations: OrganizationOrigins,
  publishableRateLimit: () => number | null = () => null,
): Authenticator {
  const owners = new KnownOwners(db, organizations);
  const touchedAt = new LRUCache<ApiKeyId, number>({ max: maxCachedKeys });
  const used = new BatchWriter<ApiKeyId>({
    name: 'key use',
    log,
    onFailure: 'retry',
    lingerMs: touchLingerMs,
    maxBatch: maxCachedKeys,
    write: (keyIds) => inTransaction(db, (tx) => touchKeys(tx, [...new Set(keyIds)])),
  });

  function noteUse(keyId: ApiKeyId): void {
    const nowMs = performance.now();
    if (nowMs - (touchedAt.get(keyId) ?? -Infinity) < touchIntervalMs) return;
    if (used.waitingSize >= maxCachedKeys) return;
    touchedAt.set(keyId, nowMs);
    used.add(keyId);
  }

  return {
    admit: createAdmission(db),
    async authenticate(bearer) {
      if (bearer === null) throw new ApiError('UNAUTHORIZED');
      const principal = toPrincipal(await owners.of(bearer), publishableRateLimit());
      noteUse(principal.keyId);
      return principal;
    },
    forget: () => owners.forget(),
    [Symbol.asyncDispose]: () => used[Symbol.asyncDispose](),
  };
}

function toPrincipal(owner: Known | null, publishableRateLimit: number | null): KeyPrincipal {
  if (owner === null) throw new ApiError('UNAUTHORIZED');
  if (owner.isRevoked) throw new ApiError('KEY_REVOKED');
  if (owner.expiresAt <= performance.now()) throw new ApiError('KEY_EXPIRED');
  const { organizationId, keyId, family, type, scopes, allowedOrigins } = owner;
  const fallback = type === 'publishable' ? publishableRateLimit : null;
  const rateLimit = owner.rateLimit ?? fallback;
  return {
    organizationId,
    callerId: keyId,
    keyId,
    person: null,
    family,
    type,
    scopes,
    rateLimit,
    allowedOrigins,
  };
}
