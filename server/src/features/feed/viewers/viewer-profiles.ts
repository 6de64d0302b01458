import type { Db } from '../../../platform/database/database.ts';
import { viewerKeyOf, viewerOf, type ViewerIds } from '../../analytics/analytics.ts';
import { ViewerSecrets } from '../../organizations/organizations.ts';
import type { LoggedEvent } from '../../events/events.ts';
import type { FeedEntry } from '../items/feed-entry.ts';
import type { OrganizationIndex } from '../items/organization-index.ts';
import { latestEncounters, likingOf, readEncounters, type Encounter } from './encounter.ts';
import { FreshEncounters, type FreshItems } from './fresh-encounters.ts';
import { ViewerProfile, type About } from './viewer-profile.ts';
import { selectEncounters, selectTraits } from './viewer-queries.ts';

/** Maximum number of profiles in memory. The least recently used are evicted first. */
export type ProfileLimits = {
  readonly profiles: number;
  /** Maximum number of encounters in all profiles, at about 40 bytes each. */
  readonly encounters: number;
};
const defaultLimits: ProfileLimits = { profiles: 10_000, encounters: 1_000_000 };
/**
 * Profiles older than this are read again, so that an erasure or a rebuild reaches every process.
 */
const freshForMs = 5 * 60_000;
/** Items outside the index whose traits are looked up for one profile. */
const maxTraits = 300;

type Known = { profile: ViewerProfile; readAtMs: number; size: number };

/** The profile of an unknown viewer. */
export const unknownViewer = new ViewerProfile(new Map(), () => null, {
  nowMs: 0,
  isIdentified: false,
});

/** The profiles of the viewers that this process serves, and what viewers did a moment ago. */
export class ViewerProfiles {
  readonly #db: Db;
  readonly #limits: ProfileLimits;
  readonly #secrets = new ViewerSecrets();
  readonly #fresh = new FreshEncounters();
  readonly #known = new Map<string, Known>();
  readonly #loading = new Map<string, Promise<ViewerProfile>>();
  #encounters = 0;

  constructor(db: Db, limits = defaultLimits) {
    this.#db = db;
    this.#limits = limits;
  }

  /** The number of profiles and encounters in memory. */
  get sizes(): { profiles: number; encounters: number; fresh: number } {
    return { profiles: this.#known.size, encounters: this.#encounters, fresh: this.#fresh.size };
  }

  /** The profile if it is in memory and fresh; otherwise null. */
  find(organizationId: string, ids: ViewerIds): ViewerProfile | null {
    const viewer = viewerOf(ids);
    if (viewer === null) return unknownViewer;
    const name = `${organizationId} ${viewer}`;
    const known = this.#known.get(name);
    if (known === undefined || Date.now() - known.readAtMs > freshForMs) return null;
    // A Map keeps the order of insertion, so the first key is that of who was not there for longest.
    this.#known.delete(name);
    this.#known.set(name, known);
    return known.profile;
  }

  /** Reads the profile. Concurrent calls share one read. */
  load(organizationId: string, ids: ViewerIds, index: OrganizationIndex): Promise<ViewerProfile> {
    const name = `${organizationId} ${viewerOf(ids)}`;
    let loading = this.#loading.get(name);
    if (loading === undefined) {
      loading = this.#read(name, organizationId, ids, index).finally(() =>
        this.#loading.delete(name),
      );
      this.#loading.set(name, loading);
    }
    return loading;
  }

  /** The last profile that was in memory, however old; for when the database is away. */
  findOld(organizationId: string, ids: ViewerIds): ViewerProfile | null {
    return this.#known.get(`${organizationId} ${viewerOf(ids)}`)?.profile ?? null;
  }

  /** Adds an event. For a swipe, `contentId` is the item that was left. */
  add(
    name: string,
    contentId: string,
    entry: FeedEntry | undefined,
    event: LoggedEvent,
    receivedAtMs: number,
  ): void {
    const encounter = this.#fresh.add(name, contentId, event, receivedAtMs);
    if (entry !== undefined) {
      this.#known.get(name)?.profile.add(entry.serialNumber, encounter, entry);
    }
  }

  /** The projection has written everything that was received up to this moment. */
  written(receivedAtMs: number): void {
    this.#fresh.written(receivedAtMs);
  }

  forget(organizationId: string, ids: ViewerIds): void {
    this.#remove(`${organizationId} ${viewerOf(ids)}`);
  }

  async #read(
    name: string,
    organizationId: string,
    ids: ViewerIds,
    index: OrganizationIndex,
  ): Promise<ViewerProfile> {
    const key = await viewerKeyOf(this.#db, this.#secrets, organizationId, ids);
    const nowMs = Date.now();
    // Before the reading: what is dropped meanwhile may not be in what is read.
    const before = this.#fresh.of(name);
    const bytes = key === null ? null : await selectEncounters(this.#db, key);
    const encounters = readEncounters(bytes ?? Buffer.alloc(0));
    const traits = await this.#readTraits(organizationId, encounters, index);
    const about = (serialNumber: number): About | null =>
      index.find(serialNumber) ?? traits.get(serialNumber) ?? null;
    const isIdentified = ids.userId !== undefined;
    const profile = new ViewerProfile(encounters, about, { nowMs, isIdentified });
    addFresh(profile, [...before, ...this.#fresh.of(name)], index);
    this.#keep(name, profile, nowMs);
    return profile;
  }

  /** What items are about that the index does not hold, but that say what the viewer likes. */
  async #readTraits(
    organizationId: string,
    encounters: Map<number, Encounter>,
    index: OrganizationIndex,
  ): Promise<Map<number, About>> {
    const missing = latestEncounters(encounters)
      .filter(
        ([serialNumber, one]) => likingOf(one) !== 0 && index.find(serialNumber) === undefined,
      )
      .slice(0, maxTraits)
      .map(([serialNumber]) => serialNumber);
    if (missing.length === 0) return new Map();
    const traits = await selectTraits(this.#db, organizationId, missing);
    return new Map(traits.map((one) => [one.serialNumber, one]));
  }

  #keep(name: string, profile: ViewerProfile, readAtMs: number): void {
    this.#remove(name);
    this.#known.set(name, { profile, readAtMs, size: profile.size });
    this.#encounters += profile.size;
    for (const [oldest] of this.#known) {
      const { profiles, encounters } = this.#limits;
      const fits = this.#known.size <= profiles && this.#encounters <= encounters;
      if (fits || oldest === name) return;
      this.#remove(oldest);
    }
  }

  #remove(name: string): void {
    this.#encounters -= this.#known.get(name)?.size ?? 0;
    this.#known.delete(name);
  }
}

function addFresh(
  profile: ViewerProfile,
  fresh: readonly FreshItems[],
  index: OrganizationIndex,
): void {
  for (const items of fresh) {
    for (const [contentId, encounter] of items) {
      const entry = index.findById(contentId);
      if (entry !== undefined) profile.add(entry.serialNumber, encounter, entry);
    }
  }
}
