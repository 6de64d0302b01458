/** The projection `viewers`: what each viewer has met and liked. See profile.ts. */
import type { Tx } from '../../../../platform/database/database.ts';
import type { EventBlock, LoggedEvent } from '../../../events/events.ts';
import { getOrMake, isSameSession } from '../engagement/engagement-pass.ts';
import { viewedContentOf } from '../engagement/view-state.ts';
import { ViewerSecrets } from '../../../organizations/organizations.ts';
import type { ProjectionWriter } from '../../../../platform/projections/projection.ts';
import type { EventProjection } from '../../../events/events.ts';
import { hashViewer, viewerOf } from '../../statistics/viewer-key.ts';
import {
  addMoment,
  latestEncounters,
  readEncounters,
  weightOf,
  writeEncounters,
  type Encounter,
  type Profile,
} from './profile.ts';
import { deleteViewerRows } from '../table-queries.ts';
import {
  appendEncounters,
  deleteOldProfiles,
  foldProfiles,
  selectProfiles,
  type ViewerEncounters,
} from './viewer-queries.ts';

export const viewers: EventProjection = {
  name: 'viewers',
  tables: ['viewer_profile'],
  createWriter: () => new ViewersWriter(),
  maxDuty: 0.1,
  eraseViewer: (tx, viewer) => deleteViewerRows(tx, 'viewer_profile', viewer),
  purgeItems: 'no items',
  expire: [(tx, limit) => deleteOldProfiles(tx, profilesKeptDays, limit)],
  rebuild: { from: 'log' },
};

/** Likings fade to a hundredth in that time. */
const profilesKeptDays = 90;

class ViewersWriter implements ProjectionWriter<LoggedEvent> {
  /** By viewer by organization. */
  #pass = new Map<string, Map<string, Profile>>();
  readonly #secrets = new ViewerSecrets();

  collect(blocks: readonly EventBlock[]): void {
    for (const { organizationId, events } of blocks) {
      const found = getOrMake(this.#pass, organizationId, newProfiles);
      let before: LoggedEvent | null = null;
      let profile: Profile | null = null;
      for (const event of events) {
        if (before === null || !isSameSession(before, event)) {
          const viewer = viewerOf(event);
          profile = viewer === null ? null : getOrMake(found, viewer, newProfile);
        }
        before = event;
        if (profile !== null) collectEvent(profile, event);
      }
    }
  }

  async write(tx: Tx): Promise<void> {
    const pass = this.#pass;
    this.#pass = new Map();
    await this.#secrets.load(tx, pass.keys());
    // By key: ids can be made so that their hashes are equal, and a row can be written only once.
    const added = new Map<string, ViewerEncounters>();
    for (const [organizationId, profiles] of pass) {
      for (const [viewer, profile] of profiles) {
        if (profile.size === 0) continue;
        const key = hashViewer(this.#secrets, organizationId, viewer);
        const bytes = writeEncounters(latestEncounters(profile));
        added.set(key, { key, organizationId, lastSecond: lastSecondOf(profile), bytes });
      }
    }
    const grown = await appendEncounters(tx, [...added.values()]);
    if (grown.length === 0) return;
    const stored = await selectProfiles(tx, grown);
    const folded = stored.map(({ key, bytes }) => ({
      key,
      bytes: writeEncounters(latestEncounters(readEncounters(bytes))),
    }));
    await foldProfiles(tx, folded);
  }

  forget(): void {
    this.#pass = new Map();
  }
}

function collectEvent(profile: Profile, event: LoggedEvent): void {
  const contentId = viewedContentOf(event);
  if (contentId === null) return;
  const second = Math.floor(event.at / 1_000);
  const encounter = getOrMake(profile, contentId, newEncounter);
  encounter.weight += weightOf(event);
  addMoment(encounter, second, event.country ?? '');
}

function lastSecondOf(profile: Profile): number {
  let last = 0;
  for (const { second } of profile.values()) last = Math.max(last, second);
  return last;
}

function newProfiles(): Map<string, Profile> {
  return new Map();
}

function newProfile(): Profile {
  return new Map();
}

function newEncounter(): Encounter {
  return { second: 0, weight: 0, country: '' };
}
