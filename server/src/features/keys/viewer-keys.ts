/**
 * Viewer keys: an app's server signs the ids of its users with one, and the service checks the signature,
 * so that somebody with the public key can't speak for a user.
 *
 *   signature = hex(HMAC-SHA256(key, userId))     (RFC 2104; key and id as UTF-8)
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Db, Tx } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/http/errors.ts';
import { newTypeId, type OrganizationId } from '../../platform/ids.ts';
import { formatTimestamp } from '../../platform/time.ts';
import type { Vault } from '../../platform/vault.ts';
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

/** Makes a key. Its text is in this answer only. @throws ApiError CONFLICT when there are too many */
export async function createViewerKey(
  tx: Tx,
  vault: Vault,
  organizationId: OrganizationId,
  name: string,
) {
  await lockViewerKeys(tx, organizationId);
  if ((await selectViewerKeys(tx, organizationId)).length >= maxViewerKeys) {
    throw new ApiError('CONFLICT', {
      message: `An organization has at most ${maxViewerKeys} viewer keys.`,
    });
  }
  const id = newTypeId('vky');
  const key = `${keyPrefix}${randomBytes(32).toString('base64url')}`;
  const sealed = vault.seal(key, contextOf(id));
  const row = await insertViewerKey(tx, { organizationId, id, name, sealed });
  return { ...presentViewerKey(row), key };
}

/** Makes a key with the same name; signatures by the old one hold for `graceSeconds`. @throws NOT_FOUND */
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

/** Signatures by the key hold no longer. @throws NOT_FOUND */
export async function removeViewerKey(tx: Tx, organizationId: OrganizationId, id: string) {
  const row = await deleteViewerKey(tx, organizationId, id);
  if (row === null) throw new ApiError('NOT_FOUND');
  return presentViewerKey(row);
}

/** What is known of a user id: an app's server stands for it, or it came without a right signature. */
export type SignatureCheck = 'signed' | 'missing' | 'wrong';

/** Checks signatures for one organization. */
export type ViewerSignatures = {
  /** Whether ids without a right signature count as anonymous. */
  readonly isRequired: boolean;
  /** @param signature as the client has sent it; anything but the right text is not signed */
  readonly check: (userId: string, signature: unknown) => SignatureCheck;
};

/** Gives what an organization's signatures are checked with; at most a few seconds old. */
export type SignatureReader = (organizationId: OrganizationId) => Promise<ViewerSignatures>;

const freshMs = 2_000;
const maxOrganizations = 1_000;

type Known = { signatures: ViewerSignatures; readAtMs: number; reading: Promise<void> | null };

/**
 * After the first look, requests never wait for the database: what is known is used while it is read
 * again. So a new key or setting holds on every process within seconds.
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

  /** @throws when the database is away and nothing is known of the organization yet */
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

  /** This process has changed something: everything is read again before it is used. */
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
  // Every key is tried, so that the time does not tell which one is right.
  for (const { key, expiresAtMs } of keys) {
    const matches = timingSafeEqual(createHmac('sha256', key).update(userId).digest(), given);
    if (matches && nowMs < expiresAtMs) isRight = true;
  }
  return isRight ? 'signed' : 'wrong';
}

function contextOf(id: string): string {
  return `viewer key ${id}`;
}
