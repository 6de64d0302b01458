/** The owners of keys in memory, so that most requests need no database. */
import { LRUCache } from 'lru-cache';
import type { Db } from '../../platform/database/database.ts';
import { hashKey, keyType } from './key-format.ts';
import { findKeyOwner, type KeyOwner, type OrganizationOrigins } from './queries.ts';

/** Shorter than the five seconds within which every process must reject a revoked key. */
const cachedForMs = 4_800;
/** A key in use is read again this often, without waiting, so that it outlives a database that hangs. */
const refreshedAfterMs = 1_000;
const maxKnown = 10_000;

/** Expiry is exact however long a key is cached, because the cache holds its monotonic deadline. */
export type Known = KeyOwner & { expiresAt: number };

type Looked = {
  readonly owner: Promise<Known | null>;
  /** When the statement was sent: it saw everything that was committed before. */
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

  /** The owner of a key; null if there is none. */
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

  /** Clears the cache, so that a key revoked by this process is rejected at once. */
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

  /** The owner that is known stays until the new one is here, or until it is too old. */
  #readAgain(key: string, known: Looked): void {
    const readAt = performance.now();
    this.#find(key).then(
      (owner) => {
        // A key that was forgotten meanwhile may have been revoked after this was read.
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
