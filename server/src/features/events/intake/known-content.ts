/**
 * Caches for a few seconds which content items an organization has, including archived ones,
 * because nearly every event names an item that another event has just named.
 */
import type { Db } from '../../../platform/database/database.ts';
import { parseContentId, type ContentId } from '../../../platform/values/ids.ts';
import { contentTraits, selectExisting } from '../../content/content.ts';

/** Maximum time during which events are still accepted for a permanently deleted item. */
const knownForMs = 3_000;
/** Short, so that an item that was asked about before its creation is found soon. */
const unknownForMs = 500;
const maxRemembered = 200_000;

type Remembered = {
  readonly exists: boolean;
  readonly isEndless: boolean;
  readonly untilMs: number;
};
type Lookup = { ids: Set<ContentId>; found: Promise<void> };

export class KnownContent {
  readonly #db: Db;
  readonly #remembered = new Map<string, Map<string, Remembered>>();
  readonly #lookups = new Map<string, Lookup>();
  #size = 0;

  constructor(db: Db) {
    this.#db = db;
  }

  /**
   * Looks up the content named by an organization's events. Adds unknown ids to `missing`, to be
   * looked up by `load`.
   *
   * @param askedAtMs when the request first asked. Entries that were valid then stay valid for this
   * request, so that they don't expire while it looks up others.
   */
  finder(
    organizationId: string,
    missing: Set<ContentId>,
    askedAtMs: number,
  ): (id: string) => string | null | undefined {
    const ofOrganization = this.#remembered.get(organizationId);
    return (id) => {
      let known = ofOrganization?.get(id);
      let contentId: string | null = id;
      if (known === undefined) {
        // The spelling may differ from the canonical one.
        contentId = parseContentId(id);
        if (contentId === null) return null;
        known = ofOrganization?.get(contentId);
      }
      if (known !== undefined && known.untilMs > askedAtMs) return known.exists ? contentId : null;
      missing.add(contentId as ContentId);
      return undefined;
    };
  }

  /** Whether a known item has no fixed length, as during a broadcast. */
  isEndless(organizationId: string, contentId: string): boolean {
    return this.#remembered.get(organizationId)?.get(contentId)?.isEndless === true;
  }

  /** Looks up ids. Concurrent calls share one statement. */
  load(organizationId: string, ids: Iterable<ContentId>): Promise<void> {
    let lookup = this.#lookups.get(organizationId);
    if (lookup === undefined) {
      const asked = new Set<ContentId>();
      lookup = { ids: asked, found: this.#lookUp(organizationId, asked) };
      this.#lookups.set(organizationId, lookup);
    }
    for (const id of ids) lookup.ids.add(id);
    return lookup.found;
  }

  async #lookUp(organizationId: string, ids: Set<ContentId>): Promise<void> {
    // Lets all calls of this turn of the event loop join.
    await new Promise((resolve) => setImmediate(resolve));
    this.#lookups.delete(organizationId);
    const existing = await selectExisting(this.#db, organizationId, [...ids]);
    this.#forgetWhenFull();
    let known = this.#remembered.get(organizationId);
    if (known === undefined) this.#remembered.set(organizationId, (known = new Map()));
    const nowMs = performance.now();
    for (const id of ids) {
      const exists = existing.has(id);
      if (!known.has(id)) this.#size += 1;
      const type = existing.get(id);
      const isEndless = type !== undefined && !contentTraits[type].hasFixedLength;
      known.set(id, { exists, isEndless, untilMs: nowMs + (exists ? knownForMs : unknownForMs) });
    }
  }

  #forgetWhenFull(): void {
    if (this.#size < maxRemembered) return;
    this.#remembered.clear();
    this.#size = 0;
  }
}
