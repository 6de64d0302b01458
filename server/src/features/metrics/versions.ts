/** Extracts from events which app versions each viewer has used. */
import type { Db } from '../../platform/database/database.ts';
import { hashViewer, viewerOf } from '../analytics/analytics.ts';
import type { ViewerSecrets } from '../organizations/organizations.ts';
import type { OrganizationEvents } from './counting.ts';
import type { SeenVersion } from './version-queries.ts';

const maxKnown = 200_000;

/** Caches what was written, because nearly every event repeats an earlier one. */
export class VersionNotes {
  readonly #known = new Map<string, number>();

  /** Returns the new versions, which the caller must write. */
  async take(
    db: Db,
    secrets: ViewerSecrets,
    blocks: readonly OrganizationEvents[],
  ): Promise<SeenVersion[]> {
    if (this.#known.size > maxKnown) this.#known.clear();
    const found = new Map<string, Omit<SeenVersion, 'viewerKey'> & { viewer: string }>();
    for (const { organizationId, events } of blocks) {
      for (const event of events) {
        const { appVersion: version, at: atMs } = event;
        const viewer = version === undefined ? null : viewerOf(event);
        if (version === undefined || viewer === null) continue;
        const key = JSON.stringify([organizationId, viewer, version]);
        if (atMs >= (this.#known.get(key) ?? Infinity)) continue;
        this.#known.set(key, atMs);
        found.set(key, { organizationId, viewer, version, atMs });
      }
    }
    if (found.size === 0) return [];
    const seen = [...found.values()];
    await secrets.load(db, new Set(seen.map(({ organizationId }) => organizationId)));
    return seen.map(({ viewer, ...one }) => ({
      ...one,
      viewerKey: Buffer.from(hashViewer(secrets, one.organizationId, viewer), 'latin1'),
    }));
  }

  forget(): void {
    this.#known.clear();
  }
}
