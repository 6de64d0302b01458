import { LRUCache } from 'lru-cache';
import type { Db } from '../../../platform/database/database.ts';
import {
  hashViewer,
  readLinks,
  viewerKeyOf,
  viewerOf,
  type ViewerIds,
} from '../../analytics/analytics.ts';
import { ViewerSecrets } from '../../organizations/organizations.ts';
import type { LoggedEvent } from '../../events/events.ts';
import type { FeedEntry } from '../items/feed-entry.ts';
import type { OrganizationIndex } from '../items/organization-index.ts';
import { latestEncounters, likingOf, readEncounters, type Encounter } from './encounter.ts';
import { FreshEncounters, type FreshItems } from './fresh-encounters.ts';
import { FreshLinks } from './fresh-links.ts';
import { ViewerProfile, type About } from './viewer-profile.ts';
import { selectEncounters, selectTraits } from './viewer-queries.ts';

/** Maximum number of profiles in memory. The least recently used are evicted first. */
export type ProfileLimits = {
  readonly profiles: number;
  /** Maximum number of encounters in all profiles, at about 40 bytes each. */
  readonly encounters: number;
};
const defaultLimits: ProfileLimits = { profiles: 10_000, encounters: 1_000_000 };
/** Older profiles are reloaded, so that an erasure or a rebuild reaches every process. */
const freshForMs = 5 * 60_000;
/** Maximum number of items outside the index whose traits are looked up for one profile. */
const maxTraits = 300;

type Known = {
  profile: ViewerProfile;
  readAtMs: number;
  /** The device that was requested together with the user, or null. */
  device: string | null;
  /** Devices whose new events reach the profile. */
  devices: readonly string[];
};

/** The names under which this process knows a viewer and, for a user, the device. */
type Names = { readonly name: string; readonly device: string | null };

export const unknownViewer = new ViewerProfile(new Map(), () => null, {
  nowMs: 0,
  isIdentified: false,
});

/**
 * The profiles of the viewers that this process serves, and their recent activity. What a device
 * did without a user belongs to the first user named with it (projection `links`). While no event
 * has named any, it belongs to the user of the current request, so that a feed continues seamlessly
 * after login.
 */
export class ViewerProfiles {
  readonly #db: Db;
  readonly #secrets = new ViewerSecrets();
  readonly #fresh = new FreshEncounters();
  readonly #freshLinks = new FreshLinks();
  readonly #known: LRUCache<string, Known>;
  readonly #loading = new Map<string, Promise<ViewerProfile>>();
  /** Users whose profiles include the activity of a device. */
  readonly #usersOf = new Map<string, Set<string>>();

  constructor(db: Db, limits = defaultLimits) {
    this.#db = db;
    this.#known = new LRUCache({
      max: limits.profiles,
      maxSize: limits.encounters,
      sizeCalculation: ({ profile }) => Math.max(1, profile.size),
      dispose: (known, name) => this.#unfollow(name, known.devices),
    });
  }

  get sizes(): { profiles: number; encounters: number; fresh: number } {
    return {
      profiles: this.#known.size,
      encounters: this.#known.calculatedSize,
      fresh: this.#fresh.size,
    };
  }

  /** The profile if it is in memory and fresh, otherwise null. */
  find(organizationId: string, ids: ViewerIds): ViewerProfile | null {
    if (viewerOf(ids) === null) return unknownViewer;
    const { name, device } = namesOf(organizationId, ids);
    const known = this.#known.get(name);
    if (known === undefined || Date.now() - known.readAtMs > freshForMs) return null;
    if (device !== null && device !== known.device) return null;
    return known.profile;
  }

  /** Loads the profile. Concurrent calls share one read. */
  load(organizationId: string, ids: ViewerIds, index: OrganizationIndex): Promise<ViewerProfile> {
    const names = namesOf(organizationId, ids);
    const key = `${names.name} ${names.device}`;
    let loading = this.#loading.get(key);
    if (loading === undefined) {
      loading = this.#read(names, organizationId, ids, index).finally(() =>
        this.#loading.delete(key),
      );
      this.#loading.set(key, loading);
    }
    return loading;
  }

  /** The last profile in memory, however old. Use this while the database is down. */
  findOld(organizationId: string, ids: ViewerIds): ViewerProfile | null {
    return this.#known.peek(namesOf(organizationId, ids).name)?.profile ?? null;
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
    if (entry === undefined) return;
    this.#known.peek(name)?.profile.add(entry.serialNumber, encounter, entry);
    for (const user of this.#usersOf.get(name) ?? []) {
      this.#known.peek(user)?.profile.add(entry.serialNumber, encounter, entry);
    }
  }

  /** Records that an event named a user and a device. */
  link(organizationId: string, ids: ViewerIds, atMs: number): void {
    const { name, device } = namesOf(organizationId, ids);
    if (device === null) return;
    if (!this.#freshLinks.add(device, name, atMs)) return;
    // Reload the user with the device, and any user that was taken for its owner.
    const others = this.#usersOf.get(device) ?? [];
    for (const user of [name, ...others]) this.#known.delete(user);
  }

  /** Call when the projection has written everything received up to this time. */
  written(receivedAtMs: number): void {
    this.#fresh.written(receivedAtMs);
  }

  async #read(
    names: Names,
    organizationId: string,
    ids: ViewerIds,
    index: OrganizationIndex,
  ): Promise<ViewerProfile> {
    const linksBefore = this.#linksOf(names);
    const { keys, devices } = await this.#findKeys(names, organizationId, ids);
    const nowMs = Date.now();
    const own = [names.name, ...devices];
    // Before reading the table: anything dropped during the read may be missing in its result.
    const before = own.flatMap((name) => this.#fresh.of(name));
    const stored = readEncounters(await selectEncounters(this.#db, keys));
    const encounters = new Map(latestEncounters(stored));
    const traits = await this.#readTraits(organizationId, encounters, index);
    const about = (serialNumber: number): About | null =>
      index.find(serialNumber) ?? traits.get(serialNumber) ?? null;
    const isIdentified = ids.userId !== undefined;
    const profile = new ViewerProfile(encounters, about, { nowMs, isIdentified });
    addFresh(profile, [...before, ...own.flatMap((name) => this.#fresh.of(name))], index);
    // A link that arrived during the read found no profile to remove and may be missing in this
    // one.
    if (this.#linksOf(names) === linksBefore) this.#keep(names, profile, { nowMs, devices });
    return profile;
  }

  /** A snapshot of the device links that a profile depends on. */
  #linksOf({ name, device }: Names): string {
    const owner = device === null ? null : this.#freshLinks.ownerOf(device);
    return JSON.stringify([this.#freshLinks.devicesOf(name), owner]);
  }

  /**
   * The keys of a viewer and of the viewer's devices, and the names of those devices that may still
   * get new events in this process.
   */
  async #findKeys(
    { name, device: asked }: Names,
    organizationId: string,
    ids: ViewerIds,
  ): Promise<{ keys: Buffer[]; devices: string[] }> {
    const own = await viewerKeyOf(this.#db, this.#secrets, organizationId, ids);
    if (own === null || ids.userId === undefined) {
      return { keys: own === null ? [] : [own], devices: [] };
    }
    const names = new Set(this.#freshLinks.devicesOf(name));
    if (asked !== null) names.add(asked);
    const devices = Array.from(names, (device) => ({ device, key: this.#keyOf(device) }));
    const links = await readLinks(
      this.#db,
      own,
      devices.map(({ key }) => key),
    );
    // Precedence: links in the table, then recent links, then the current request.
    const found = devices.filter(({ device, key }) => {
      const link = links.find((one) => one.device.equals(key));
      return link === undefined
        ? (this.#freshLinks.ownerOf(device) ?? name) === name
        : link.user.equals(own);
    });
    const linked = links.filter(({ user }) => user.equals(own)).map(({ device }) => device);
    return {
      keys: [own, ...linked, ...found.map(({ key }) => key)],
      devices: found.map(({ device }) => device),
    };
  }

  /** The key of a device by name. The organization's secret must be loaded. */
  #keyOf(device: string): Buffer {
    const [organizationId = ''] = device.split(' ', 1);
    const viewer = device.slice(organizationId.length + 1);
    return Buffer.from(hashViewer(this.#secrets, organizationId, viewer), 'latin1');
  }

  #follow(device: string, user: string): void {
    const users = this.#usersOf.get(device) ?? new Set();
    this.#usersOf.set(device, users.add(user));
  }

  /** Traits of items that are not in the index but reveal the viewer's preferences. */
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

  #keep(
    { name, device }: Names,
    profile: ViewerProfile,
    { nowMs: readAtMs, devices }: { nowMs: number; devices: readonly string[] },
  ): void {
    this.#known.set(name, { profile, readAtMs, device, devices });
    for (const one of devices) this.#follow(one, name);
  }

  #unfollow(user: string, devices: readonly string[]): void {
    for (const device of devices) {
      const users = this.#usersOf.get(device);
      users?.delete(user);
      if (users?.size === 0) this.#usersOf.delete(device);
    }
  }
}

function namesOf(organizationId: string, ids: ViewerIds): Names {
  const { userId, deviceId } = ids;
  const isLogin = userId !== undefined && deviceId !== undefined;
  return {
    name: `${organizationId} ${viewerOf(ids)}`,
    device: isLogin ? `${organizationId} ${viewerOf({ deviceId })}` : null,
  };
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
