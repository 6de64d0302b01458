import { hash } from 'node:crypto';
import type { Db } from '../../platform/database/database.ts';
import { selectViewerSecrets } from './queries.ts';

/**
 * Keyed hashes of viewers' ids. Each organization has its own secret, which never changes. Without
 * it, nobody can check a guessed id against a hash.
 */
export class ViewerSecrets {
  readonly #secrets = new Map<string, string>();

  /** Reads the secrets that are not known yet; call it before `hash`. */
  async load(db: Db, organizationIds: Iterable<string>): Promise<void> {
    // Before looking what is known: whatever is known from here on stays known until it is used,
    // which a cache that drops single entries could not promise.
    if (this.#secrets.size > maxOrganizations) this.#secrets.clear();
    const unknown = [...organizationIds].filter((id) => !this.#secrets.has(id));
    if (unknown.length === 0) return;
    for (const { organizationId, secret } of await selectViewerSecrets(db, unknown)) {
      this.#secrets.set(organizationId, secret.toString('hex'));
    }
  }

  /** Whether the organization's secret was loaded. */
  has(organizationId: string): boolean {
    return this.#secrets.has(organizationId);
  }

  /**
   * @returns 32 bytes as a string of characters with codes up to 255
   * @throws Error when the organization's secret was not loaded, or there is no such organization
   */
  hash(organizationId: string, text: string): string {
    const secret = this.#secrets.get(organizationId);
    if (secret === undefined)
      throw new Error(`the viewer secret of ${organizationId} is not known`);
    // The secret has a fixed length, and whoever uses the hash cuts it: no need for an HMAC, which
    // takes several times as long.
    return hash('sha256', secret + text, 'binary');
  }
}

const maxOrganizations = 10_000;
