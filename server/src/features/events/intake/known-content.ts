/**
 * Which content items an organization has, archived ones included, remembered for seconds: nearly
 * every event names an item that another event has named a moment ago.
 */
import type { Db } from '../../../platform/database/database.ts';
import { parseContentId, type ContentId } from '../../../platform/ids.ts';
import { selectExisting } from '../../content/content.ts';

/** How long, at most, a permanently deleted item still takes events. */
const knownForMs = 3_000;
/** Short, so that an item which was asked for before it was made is found soon. */
const unknownForMs = 500;
const maxRemembered = 200_000;

type Remembered = {
  readonly exists: boolean;
  readonly isLive: boolean;
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
   * What is known of the content that an organization's events name. Ids that nothing is known of
   * are added to `missing`, to be looked up by `load`.
   *
   * @param askedAtMs when the request asked first: what was known then stays known to it, or ids
   *   would run out one after another while it looks up others
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
        // It may be spelled differently from how the service writes it.
        contentId = parseContentId(id);
        if (contentId === null) return null;
        known = ofOrganization?.get(contentId);
      }
      if (known !== undefined && known.untilMs > askedAtMs) return known.exists ? contentId : null;
      missing.add(contentId as ContentId);
      return undefined;
    };
  }

  /** Whether an item that was found is a live stream, whose length nobody knows. */
  isLive(organizationId: string, contentId: string): boolean {
    return this.#remembered.get(organizationId)?.get(contentId)?.isLive === true;
  }

  /** Looks ids up, all that are asked for at the same time in one statement. */
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
    // Lets everyone join who asks in this turn of the event loop.
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
      const isLive = existing.get(id) === 'live_stream';
      known.set(id, { exists, isLive, untilMs: nowMs + (exists ? knownForMs : unknownForMs) });
    }
  }

  #forgetWhenFull(): void {
    if (this.#size < maxRemembered) return;
    this.#remembered.clear();
    this.#size = 0;
  }
}
