import { hash } from 'node:crypto';
import type { Db } from '../../platform/database/database.ts';
import { selectViewerSecrets } from './queries.ts';

/**
 * Keyed hashes of viewer ids. Each organization has its own secret, which never changes. Without
 * it, a guessed id can't be checked against a hash.
 */
export class ViewerSecrets {
  readonly #secrets = new Map<string, string>();

  /** Loads missing secrets; call before `hash`. */
  async load(db: Db, organizationIds: Iterable<string>): Promise<void> {
    // Cleared before the check: from then on, secrets stay loaded until they are used, which a
    // cache that evicts single entries could not guarantee.
    if (this.#secrets.size > maxOrganizations) this.#secrets.clear();
    const unknown = [...organizationIds].filter((id) => !this.#secrets.has(id));
    if (unknown.length === 0) return;
    for (const { organizationId, secret } of await selectViewerSecrets(db, unknown)) {
      this.#secrets.set(organizationId, secret.toString('hex'));
    }
  }

  /** Whether the organization's secret is loaded. */
  has(organizationId: string): boolean {
    return this.#secrets.has(organizationId);
  }

  /**
   * @returns 32 bytes as a string of characters with codes up to 255
   * @throws {Error} if the secret is not loaded or the organization does not exist
   */
  hash(organizationId: string, text: string): string {
    const secret = this.#secrets.get(organizationId);
    if (secret === undefined)
      throw new Error(`the viewer secret of ${organizationId} is not known`);
    // The secret has a fixed length, and callers truncate the hash, so there is no need for an
    // HMAC, which takes several times as long.
    return hash('sha256', secret + text, 'binary');
  }
}

const maxOrganizations = 10_000;
