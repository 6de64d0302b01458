/** Caches the owners of keys, so that most requests need no database query. */
import { LRUCache } from 'lru-cache';
import type { Db } from '../../platform/database/database.ts';
import { hashKey, keyType } from './key-format.ts';
import { findKeyOwner, type KeyOwner, type OrganizationOrigins } from './queries.ts';

/** Below the five seconds within which every process must reject a revoked key. */
const cachedForMs = 4_800;
/**
 * A key in use is reread in the background at this interval, so that requests continue while the
 * database hangs.
 */
const refreshedAfterMs = 1_000;
const maxKnown = 10_000;

/** Expiry is exact despite caching, because the cache holds its monotonic deadline. */
export type Known = KeyOwner & { expiresAt: number };

type Looked = {
  readonly owner: Promise<Known | null>;
  /** Start of the query, which saw everything committed before. */
  readonly readAt: number;
  isRefreshing: boolean;
};

export class KnownOwners {
  readonly #db: Db;
  readonly #organizations: OrganizationOrigins;
  readonly #owners = new LRUCache<string, Looked>({ max: maxKnown, ttl: cachedForMs });

  constructor(db: Db, organizations: OrganizationOrigins) {
    this.#db = db;
    this.#organizations = organizations;
  }

  /** The owner of a key, or null. */
  of(key: string): Promise<Known | null> {
    const known = this.#owners.get(key);
    if (known === undefined) {
      return keyType(key) === null ? Promise.resolve(null) : this.#read(key);
    }
    const isDue = performance.now() - known.readAt > refreshedAfterMs;
    if (isDue && !known.isRefreshing) {
      known.isRefreshing = true;
      this.#readAgain(key, known);
    }
    return known.owner;
  }

  /** Clears the cache, so that a key revoked by this process is rejected immediately. */
  forget(): void {
    this.#owners.clear();
  }

  #read(key: string): Promise<Known | null> {
    const readAt = performance.now();
    const owner = this.#find(key);
    const looked = { owner, readAt, isRefreshing: false };
    this.#owners.set(key, looked);
    owner.catch(() => {
      if (this.#owners.peek(key) === looked) this.#owners.delete(key);
    });
    return owner;
  }

  /** The known owner stays valid until the new one arrives or it is too old. */
  #readAgain(key: string, known: Looked): void {
    const readAt = performance.now();
    this.#find(key).then(
      (owner) => {
        // A key that was forgotten in the meantime may have been revoked after this read.
        if (this.#owners.peek(key) !== known) return;
        const ttl = Math.max(1, cachedForMs - (performance.now() - readAt));
        const looked = { owner: Promise.resolve(owner), readAt, isRefreshing: false };
        this.#owners.set(key, looked, { ttl });
      },
      () => {
        known.isRefreshing = false;
      },
    );
  }

  async #find(key: string): Promise<Known | null> {
    const owner = await findKeyOwner(this.#db, this.#organizations, hashKey(key));
    return owner && { ...owner, expiresAt: performance.now() + owner.expiresInMs };
  }
}
