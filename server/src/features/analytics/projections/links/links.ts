/**
 * The projection `links`: which user a device belongs to, so that one person is one viewer before
 * and after login. A device belongs to the first user that an event names together with it; of two
 * at the same time, to the one with the smaller hash. This is a minimum, so neither order nor
 * repetition matters. Reports resolve links when they count people, so a new link moves no counts.
 */
import type { Tx } from '../../../../platform/database/database.ts';
import type { ProjectionWriter } from '../../../../platform/projections/projection.ts';
import type { EventBlock, EventProjection, LoggedEvent } from '../../../events/events.ts';
import { ViewerSecrets } from '../../../organizations/organizations.ts';
import { getOrMake } from '../../../../platform/values/maps.ts';
import { isSameSession } from '../engagement/engagement-pass.ts';
import { RecentMap } from '../../statistics/recent-map.ts';
import { hashViewer, partitionKeyOf, type Hash } from '../../statistics/viewer-key.ts';
import { PeopleNote } from './people-note.ts';
import { deleteLinks, keepOldLinks, upsertLinks, type ViewerLink } from './link-queries.ts';

export const links: EventProjection = {
  name: 'links',
  tables: ['viewer_link'],
  createWriter: () => new LinkWriter(),
  partitionKey: partitionKeyOf,
  maxDuty: 1,
  eraseViewer: deleteLinks,
  purgeItems: 'no items',
  expire: [],
  rebuild: { from: 'log', keepOld: keepOldLinks },
};

class LinkWriter implements ProjectionWriter<LoggedEvent> {
  /** When a device and a user were first seen together, by organization, device and user. */
  #pass = new Map<string, Map<string, Map<string, number>>>();
  readonly #secrets = new ViewerSecrets();
  /** The time since which each device is known to belong to a user. */
  readonly #known = new RecentMap<number>(100_000);
  readonly #people = new PeopleNote('viewer_activity');

  collect(blocks: readonly EventBlock[]): void {
    for (const { organizationId, events } of blocks) {
      const devices = getOrMake(
        this.#pass,
        organizationId,
        () => new Map<string, Map<string, number>>(),
      );
      let before: LoggedEvent | null = null;
      for (const event of events) {
        const { userId, deviceId, at } = event;
        if (userId === undefined || deviceId === undefined) continue;
        if (before !== null && before.at <= at && isSameSession(before, event)) continue;
        before = event;
        const users = getOrMake(devices, deviceId, () => new Map<string, number>());
        users.set(userId, Math.min(users.get(userId) ?? Infinity, at));
      }
    }
  }

  async write(tx: Tx): Promise<void> {
    await this.#secrets.load(tx, this.#pass.keys());
    const found = new Map<Hash, ViewerLink>();
    for (const [organizationId, devices] of this.#pass) {
      for (const [deviceId, users] of devices) {
        const device = hashViewer(this.#secrets, organizationId, `d:${deviceId}`);
        for (const [userId, atMs] of users) {
          if (atMs > (this.#known.get(device) ?? Infinity)) continue;
          const user = hashViewer(this.#secrets, organizationId, `u:${userId}`);
          const link = { organizationId, device, user, atMs };
          const other = found.get(device);
          if (other === undefined || isEarlier(link, other)) found.set(device, link);
        }
      }
    }
    this.#pass = new Map();
    const links = [...found.values()];
    await upsertLinks(tx, links);
    for (const { device, atMs } of links) this.#known.set(device, atMs);
    await this.#people.add(
      tx,
      links.map(({ device, organizationId }) => ({ key: device, organizationId })),
    );
  }

  forget(): void {
    this.#pass = new Map();
    this.#known.clear();
    this.#people.forget();
  }
}

function isEarlier(one: ViewerLink, other: ViewerLink): boolean {
  return one.atMs < other.atMs || (one.atMs === other.atMs && one.user < other.user);
}
