/**
 * Viewer keys: an app's server signs its user ids with one and the service verifies the signature,
 * so that someone with the publishable key can't act as a user.
 *
 *   signature = hex(HMAC-SHA256(key, userId))     (RFC 2104; key and id as UTF-8)
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Db, Tx } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/http/errors.ts';
import { newTypeId, type OrganizationId } from '../../platform/values/ids.ts';
import { formatTimestamp } from '../../platform/values/time.ts';
import type { Vault } from '../../platform/secrets/vault.ts';
import type { OrganizationOrigins } from './queries.ts';
import {
  deleteViewerKey,
  expireViewerKey,
  insertViewerKey,
  lockViewerKeys,
  selectSigningKeys,
  selectViewerKeys,
  type ViewerKeyRow,
} from './viewer-key-queries.ts';

const maxViewerKeys = 20;
const keyPrefix = 'rf_vk_';

export function presentViewerKey({ id, name, createdAt, expiresAt }: ViewerKeyRow) {
  return {
    id,
    name,
    createdAt: formatTimestamp(createdAt),
    expiresAt: formatTimestamp(expiresAt),
  };
}

/**
 * Creates a key. Its text is only in this response.
 * @throws {ApiError} CONFLICT if there are too many
 */
export async function createViewerKey(
  tx: Tx,
  vault: Vault,
  organizationId: OrganizationId,
  name: string,
) {
  await lockViewerKeys(tx, organizationId);
  if ((await selectViewerKeys(tx, organizationId)).length >= maxViewerKeys) {
    throw new ApiError('CONFLICT', {
      message: `An organization can have at most ${maxViewerKeys} viewer keys.`,
    });
  }
  const id = newTypeId('vky');
  const key = `${keyPrefix}${randomBytes(32).toString('base64url')}`;
  const sealed = vault.seal(key, contextOf(id));
  const row = await insertViewerKey(tx, { organizationId, id, name, sealed });
  return { ...presentViewerKey(row), key };
}

/**
 * Creates a key with the same name; the old one's signatures remain valid for `graceSeconds`.
 * @throws {ApiError} NOT_FOUND
 */
export async function rotateViewerKey(
  tx: Tx,
  vault: Vault,
  organizationId: OrganizationId,
  { id, graceSeconds }: { id: string; graceSeconds: number },
) {
  await lockViewerKeys(tx, organizationId);
  const name = await expireViewerKey(tx, organizationId, id, graceSeconds);
  if (name === null) throw new ApiError('NOT_FOUND');
  return { ...(await createViewerKey(tx, vault, organizationId, name)), replaces: id };
}

/**
 * Invalidates the key's signatures immediately.
 * @throws {ApiError} NOT_FOUND
 */
export async function removeViewerKey(tx: Tx, organizationId: OrganizationId, id: string) {
  const row = await deleteViewerKey(tx, organizationId, id);
  if (row === null) throw new ApiError('NOT_FOUND');
  return presentViewerKey(row);
}

/** Result of verifying a user id's signature. */
export type SignatureCheck = 'signed' | 'missing' | 'wrong';

/** Verifies signatures for one organization. */
export type ViewerSignatures = {
  /** Whether ids without a valid signature count as anonymous. */
  readonly isRequired: boolean;
  /** @param signature as sent by the client; any other type counts as not signed */
  readonly check: (userId: string, signature: unknown) => SignatureCheck;
};

/** Returns an organization's signature verification, at most a few seconds old. */
export type SignatureReader = (organizationId: OrganizationId) => Promise<ViewerSignatures>;

const freshMs = 2_000;
const maxOrganizations = 1_000;

type Known = { signatures: ViewerSignatures; readAtMs: number; reading: Promise<void> | null };

/**
 * After the first read, requests never wait for the database: cached data is used while it is
 * reread. So a new key or setting takes effect on every process within seconds.
 */
export class SignatureCache {
  readonly #known = new Map<OrganizationId, Known>();
  readonly #db: Db;
  readonly #vault: Vault;
  readonly #organizations: OrganizationOrigins;

  constructor(db: Db, vault: Vault, organizations: OrganizationOrigins) {
    this.#db = db;
    this.#vault = vault;
    this.#organizations = organizations;
  }

  /** @throws {Error} if the database is away and the organization is not cached yet */
  async of(organizationId: OrganizationId): Promise<ViewerSignatures> {
    const known = this.#known.get(organizationId);
    if (known === undefined) return this.#read(organizationId);
    if (performance.now() - known.readAtMs > freshMs && known.reading === null) {
      known.reading = this.#read(organizationId).then(
        () => undefined,
        () => {
          known.reading = null;
        },
      );
    }
    return known.signatures;
  }

  /** Call after a change by this process: everything is reread before it is used. */
  forget(): void {
    this.#known.clear();
  }

  async #read(organizationId: OrganizationId): Promise<ViewerSignatures> {
    const readAtMs = performance.now();
    const { isRequired, keys } = await selectSigningKeys(
      this.#db,
      this.#organizations,
      organizationId,
    );
    const opened = keys.map(({ id, sealed, expiresAt }) => ({
      key: this.#vault.open(sealed, contextOf(id)),
      expiresAtMs: expiresAt?.getTime() ?? Infinity,
    }));
    const signatures: ViewerSignatures = {
      isRequired,
      check: (userId, signature) => checkSignature(opened, userId, signature),
    };
    if (this.#known.size >= maxOrganizations) this.#known.clear();
    this.#known.set(organizationId, { signatures, readAtMs, reading: null });
    return signatures;
  }
}

function checkSignature(
  keys: readonly { readonly key: string; readonly expiresAtMs: number }[],
  userId: string,
  signature: unknown,
): SignatureCheck {
  if (signature === undefined || signature === '') return 'missing';
  if (typeof signature !== 'string' || !/^[\da-f]{64}$/i.test(signature)) return 'wrong';
  const given = Buffer.from(signature, 'hex');
  const nowMs = Date.now();
  let isRight = false;
  // Every key is tried, so that timing does not reveal which one matches.
  for (const { key, expiresAtMs } of keys) {
    const matches = timingSafeEqual(createHmac('sha256', key).update(userId).digest(), given);
    if (matches && nowMs < expiresAtMs) isRight = true;
  }
  return isRight ? 'signed' : 'wrong';
}

function contextOf(id: string): string {
  return `viewer key ${id}`;
}
