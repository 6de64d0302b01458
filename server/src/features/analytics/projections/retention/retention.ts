/** The projection `retention`: cohorts of viewers by their first day, and how many came back. */
import { dayMs } from '../../../../platform/values/time.ts';
import type { ZoneClock } from '../../../../platform/values/zone-clock.ts';
import type { Tx } from '../../../../platform/database/database.ts';
import type { EventBlock, LoggedEvent } from '../../../events/events.ts';
import { getOrMake } from '../../../../platform/values/maps.ts';
import { isSameSession } from '../engagement/engagement-pass.ts';
import { ViewerSecrets } from '../../../organizations/organizations.ts';
import type { ProjectionWriter } from '../../../../platform/projections/projection.ts';
import type { EventProjection } from '../../../events/events.ts';
import { ClockedBlocks } from '../clocked-blocks.ts';
import { RecentMap } from '../../statistics/recent-map.ts';
import { hashViewer, partitionKeyOf, viewerOf, type Hash } from '../../statistics/viewer-key.ts';
import { PeopleNote } from '../links/people-note.ts';
import { deleteViewerRows } from '../table-queries.ts';
import { forEachCount, mergeActivity, type Activity } from './activity.ts';
import { keepEarlierActivity } from './earlier-activity.ts';
import {
  addRetention,
  selectActivities,
  upsertActivities,
  type CohortCount,
  type ViewerActivity,
} from './retention-queries.ts';

export const retention: EventProjection = {
  name: 'retention',
  tables: ['retention_counter', 'viewer_activity'],
  createWriter: () => new RetentionWriter(),
  partitionKey: partitionKeyOf,
  maxDuty: 1,
  eraseViewer: (tx, viewer) => deleteViewerRows(tx, 'viewer_activity', viewer),
  purgeItems: 'no items',
  expire: [],
  rebuild: { from: 'log', carryOver: keepEarlierActivity },
};

class RetentionWriter implements ProjectionWriter<LoggedEvent> {
  readonly #blocks = new ClockedBlocks((block, clock) => this.#collect(block, clock));
  /** Days by organization, then viewer. */
  #pass = new Map<string, Map<string, Set<number>>>();
  readonly #secrets = new ViewerSecrets();
  readonly #remembered = new RecentMap<Activity>(60_000);
  readonly #people = new PeopleNote('viewer_link');

  collect(blocks: readonly EventBlock[]): void {
    this.#blocks.add(blocks);
  }

  #collect({ organizationId, events }: EventBlock, clock: ZoneClock): void {
    const viewers = getOrMake(this.#pass, organizationId, () => new Map<string, Set<number>>());
    let before: LoggedEvent | null = null;
    let dayBefore = -1;
    for (const event of events) {
      const day = Math.floor(clock.localOf(event.at) / dayMs);
      // Clients send events in batches, which mostly fall on the same day.
      if (day === dayBefore && before !== null && isSameSession(before, event)) continue;
      before = event;
      dayBefore = day;
      const viewer = viewerOf(event);
      if (viewer !== null) getOrMake(viewers, viewer, () => new Set()).add(day);
    }
  }

  async write(tx: Tx): Promise<void> {
    await this.#blocks.settle(tx);
    await this.#secrets.load(tx, this.#pass.keys());
    const news = this.#news();
    this.#pass = new Map();
    const unknown = [...news.keys()].filter((key) => this.#remembered.get(key) === undefined);
    for (const { key, activity } of await selectActivities(tx, unknown)) {
      this.#remembered.set(key, activity);
    }
    const cohorts = new Map<string, CohortCount>();
    const changed: ViewerActivity[] = [];
    const added: ViewerActivity[] = [];
    for (const [key, { organizationId, days }] of news) {
      const before = this.#remembered.get(key) ?? [];
      const activity = mergeActivity(before, days);
      this.#remembered.set(key, activity);
      if (activity.length === before.length && activity[0] === before[0]) continue;
      changed.push({ key, organizationId, activity });
      if (before.length === 0) added.push({ key, organizationId, activity });
      forEachCount(before, (cohort, day) => count(cohorts, organizationId, cohort, day, -1));
      forEachCount(activity, (cohort, day) => count(cohorts, organizationId, cohort, day, 1));
    }
    await addRetention(
      tx,
      [...cohorts.values()].filter(({ viewers }) => viewers !== 0),
    );
    await upsertActivities(tx, changed);
    await this.#people.add(tx, added);
  }

  forget(): void {
    this.#blocks.forget();
    this.#pass = new Map();
    this.#remembered.clear();
    this.#people.forget();
  }

  /** Viewers of the pass with days not known to be counted already. */
  #news(): Map<Hash, { organizationId: string; days: Set<number> }> {
    const news = new Map<Hash, { organizationId: string; days: Set<number> }>();
    for (const [organizationId, viewers] of this.#pass) {
      for (const [viewer, days] of viewers) {
        const key = hashViewer(this.#secrets, organizationId, viewer);
        const known = this.#remembered.get(key);
        if (known !== undefined && [...days].every((day) => known.includes(day))) continue;
        news.set(key, { organizationId, days });
      }
    }
    return news;
  }
}

function count(
  cohorts: Map<string, CohortCount>,
  organizationId: string,
  cohortDay: number,
  day: number,
  viewers: number,
): void {
  const key = `${organizationId} ${cohortDay} ${day}`;
  getOrMake(cohorts, key, () => ({ organizationId, cohortDay, day, viewers: 0 })).viewers +=
    viewers;
}
