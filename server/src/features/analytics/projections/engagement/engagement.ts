/** The projection `engagement`: views and sessions, counters, distributions and viewer sets. */
import type { Tx } from '../../../../platform/database/database.ts';
import type {
  ProjectionPass,
  ProjectionWriter,
} from '../../../../platform/projections/projection.ts';
import { readGeneration, writeGeneration } from '../../../../platform/projections/queries.ts';
import type { ZoneClock } from '../../../../platform/values/zone-clock.ts';
import {
  noItem,
  type EventBlock,
  type EventProjection,
  type LoggedEvent,
} from '../../../events/events.ts';
import { ViewerSecrets } from '../../../organizations/organizations.ts';
import { hashViewer } from '../../statistics/viewer-key.ts';
import { erasedKeys } from '../../statistics/viewer-keys.ts';
import { ClockedBlocks } from '../clocked-blocks.ts';
import { deleteItemRows, expireHours } from '../table-queries.ts';
import {
  changesOf,
  countSessions,
  countViews,
  keyTouched,
  sessionChangesOf,
  Touched,
  type TouchedSession,
  type TouchedView,
} from './count-changes.ts';
import { CounterStore, type Exists } from './counter-store.ts';
import { getOrMake } from '../../../../platform/values/maps.ts';
import { collectBlock, type EngagementPass } from './engagement-pass.ts';
import type { Changed, EngagementFollower, FollowedPass } from './follower.ts';
import { removeFromSets } from './forget-watcher.ts';
import { keepOldEngagement } from './old-engagement.ts';
import { devicesOf, forgetSessionsOf } from './session-devices.ts';
import { deleteOldSessionDevices, upsertSessionDevices } from './session-device-queries.ts';
import {
  emptySession,
  readSession,
  sessionBytes,
  writeSession,
  type SessionState,
} from './session-state.ts';
import { deleteStatesOf, stateTables, truncateStates } from './state-queries.ts';
import { generationOf, sessionTables, StateStore, tableOf, viewTables } from './state-store.ts';
import { readView, viewBytes, writeView } from './view-codec.ts';
import { emptyView, type ViewState } from './view-state.ts';

export type EngagementOptions = {
  /** A view or a session ends after this long without an event. */
  readonly sessionTimeoutMs: number;
};

const name = 'engagement';
const itemTables = ['content_counter', 'viewer_set', 'reactor_set', 'content_day'] as const;

/** @param followers maintain further tables from the same views and sessions */
export function createEngagement(
  options: EngagementOptions,
  followers: readonly EngagementFollower[],
): EventProjection {
  return {
    name,
    tables: [
      'content_counter',
      'audience_counter',
      'content_day',
      'viewer_set',
      'reactor_set',
      ...stateTables,
      'session_device',
      ...followers.flatMap(({ tables }) => tables),
    ],
    createWriter: () => new EngagementWriter(options.sessionTimeoutMs, followers),
    maxDuty: 1,
    // Counters record how often something happened, not who did it. Sets that are estimates only
    // hold the highest rank per register, from which nobody can be removed.
    async eraseViewer(tx, viewer) {
      let removed = 0;
      for (const key of await erasedKeys(tx, viewer)) {
        for (const table of stateTables) removed += await deleteStatesOf(tx, table, key);
        removed += await forgetSessionsOf(tx, key);
        removed += await removeFromSets(tx, viewer.organizationId, key);
      }
      for (const follower of followers) removed += await follower.eraseViewer(tx, viewer);
      return removed;
    },
    async purgeItems(tx, items) {
      for (const table of itemTables) {
        await deleteItemRows(tx, table, items);
      }
    },
    expire: [
      expireHours('content_counter'),
      expireHours('audience_counter'),
      expireHours('viewer_set'),
      expireHours('reactor_set'),
      ...followers.flatMap(({ expire }) => expire),
    ],
    rebuild: {
      from: 'log',
      async carryOver(rebuild) {
        for (const follower of followers) await follower.carryOver(rebuild);
      },
      async keepOld(tx, schema, firstDayMs) {
        await keepOldEngagement(tx, schema, firstDayMs);
        for (const follower of followers) await follower.keepOld(tx, schema, firstDayMs);
      },
    },
  };
}

class EngagementWriter implements ProjectionWriter<LoggedEvent> {
  readonly #idleMs: number;
  readonly #views = new StateStore<ViewState>({
    tables: viewTables,
    sizeBytes: viewBytes,
    remembered: 60_000,
    empty: emptyView,
    read: readView,
    write: writeView,
  });
  readonly #sessions = new StateStore<SessionState>({
    tables: sessionTables,
    sizeBytes: sessionBytes,
    remembered: 40_000,
    empty: emptySession,
    read: readSession,
    write: writeSession,
  });
  readonly #counters = new CounterStore();
  readonly #followers: readonly EngagementFollower[];
  readonly #secrets = new ViewerSecrets();
  readonly #blocks = new ClockedBlocks(
    (block, clock) => this.#collect(block, clock),
    this.#secrets,
  );
  /** By generation: a pass may span several, especially during a rebuild. */
  #passes = new Map<number, EngagementPass>();

  constructor(idleMs: number, followers: readonly EngagementFollower[]) {
    this.#idleMs = idleMs;
    this.#followers = followers;
  }

  collect(blocks: readonly EventBlock[]): void {
    this.#blocks.add(blocks);
  }

  #collect(block: EventBlock, clock: ZoneClock): void {
    const generation = generationOf(block.receivedAt);
    const pass = getOrMake(this.#passes, generation, newPass);
    const hashUser = (organizationId: string, userId: string) =>
      hashViewer(this.#secrets, organizationId, `u:${userId}`);
    collectBlock(pass, block, { idleMs: this.#idleMs, generation, clock, hashUser });
  }

  async write(tx: Tx, { partitions, receivedAt }: ProjectionPass): Promise<void> {
    await this.#blocks.settle(tx);
    const passes = [...this.#passes].toSorted(([a], [b]) => a - b);
    this.#passes = new Map();
    for (const [generation, pass] of passes) {
      const entered = await this.#enterGeneration(tx, partitions, generation);
      await this.#writePass(tx, pass, { partitions, generation: entered });
    }
    // Runs even without events of these partitions, so that the others do not wait for them.
    if (receivedAt > 0) await this.#enterGeneration(tx, partitions, generationOf(receivedAt));
  }

  async #writePass(
    tx: Tx,
    pass: EngagementPass,
    { partitions, generation }: FollowedPass,
  ): Promise<void> {
    const idleMs = this.#idleMs;
    const views = new Touched<TouchedView>();
    const sessions = new Touched<TouchedSession>();
    await this.#secrets.load(tx, pass.keys());
    keyTouched(this.#secrets, pass, views, sessions);
    const viewsBefore = await this.#views.load(tx, views.keys, generation);
    const newViews = views.values.map((view, index) =>
      countViews(view, viewsBefore[index] ?? [], idleMs),
    );
    const sessionsBefore = await this.#sessions.load(tx, sessions.keys, generation);
    const newSessions = sessions.values.map((session, index) =>
      countSessions(session, sessionsBefore[index] ?? [], idleMs),
    );
    const exists = await this.#counters.write(tx, pass);
    const changes = {
      views: changesOf(views, viewsBefore, newViews).map((view) => ofKnownItem(view, exists)),
      sessions: sessionChangesOf(sessions, sessionsBefore, newSessions),
    };
    await upsertSessionDevices(
      tx,
      devicesOf(sessions, sessionsBefore, newSessions, generation),
      generation,
    );
    for (const follower of this.#followers) {
      await follower.write(tx, changes, { partitions, generation });
    }
    await this.#views.save(tx, views.keys, newViews, generation);
    await this.#sessions.save(tx, sessions.keys, newSessions, generation);
  }

  forget(): void {
    this.#passes = new Map();
    this.#blocks.forget();
    this.#views.forget();
    this.#sessions.forget();
    this.#counters.forget();
  }

  /**
   * Enters a generation. Once all partitions have entered and none is ahead, empties the tables of
   * the next one, which hold nothing that exists. Uses the time of the log, not the clock.
   *
   * @returns the generation to write: a block may arrive slightly too late for its own
   */
  async #enterGeneration(
    tx: Tx,
    partitions: readonly number[],
    generation: number,
  ): Promise<number> {
    const known = await readGeneration(tx, name, partitions);
    if (generation <= known) return known;
    const { least, latest } = await writeGeneration(tx, name, { partitions, generation });
    // In a rebuild, partitions may be further apart and use the table of the next one already.
    if (least === generation && latest === generation) {
      const next = generation + 1;
      await truncateStates(tx, [tableOf(viewTables, next), tableOf(sessionTables, next)]);
    }
    if (least === generation) await deleteOldSessionDevices(tx, generation - 1);
    this.#views.forget();
    this.#sessions.forget();
    return generation;
  }
}

/**
 * Reports permanently deleted items as `noItem`, because the purge of an item visits followers only
 * once.
 */
function ofKnownItem(view: Changed<ViewState>, exists: Exists): Changed<ViewState> {
  return exists(view.organizationId, view.contentId) ? view : { ...view, contentId: noItem };
}

function newPass(): EngagementPass {
  return new Map();
}
