/**
 * The projection `engagement`: views and sessions, the counters, the distributions and the sets of
 * viewers.
 */
import { dayMs, hourMs } from '../../../../platform/time.ts';
import type { Tx } from '../../../../platform/database/database.ts';
import type { EventBlock, LoggedEvent } from '../../../events/events.ts';
import { ViewerSecrets } from '../../../organizations/organizations.ts';
import { localMoment, type ZoneClock } from '../../../../platform/zone-clock.ts';
import type { ProjectionWriter } from '../../../../platform/projections/projection.ts';
import type { EventProjection } from '../../../events/events.ts';
import { ClockedBlocks } from '../clocked-blocks.ts';
import { hashText, hashViewer, memberOf, type Hash } from '../../statistics/viewer-key.ts';
import { addToBreakdown, positionStep, type ContentDetail } from './content-detail.ts';
import { addSessionCounts, addViewCounts, reachedMs } from './contribution.ts';
import { CounterStore } from './counter-store.ts';
import type { Changed, EngagementFollower } from './follower.ts';
import {
  addWatcher,
  audienceCounts,
  audienceKey,
  collectBlock,
  contentCounts,
  detailOf,
  getOrMake,
  segmentCounts,
  type EngagementPass,
  type OrganizationPass,
  type SessionPass,
  type ViewPass,
} from './engagement-pass.ts';
import {
  emptySession,
  mergeSessions,
  readSession,
  sessionBytes,
  writeSession,
  type SessionState,
} from './session-state.ts';
import { erasedKeys } from '../../statistics/viewer-keys.ts';
import { removeFromSets } from './forget-watcher.ts';
import { deleteItemRows, expireHours } from '../table-queries.ts';
import { keepOldEngagement } from './old-engagement.ts';
import {
  deleteStatesOf,
  readGeneration,
  stateTables,
  truncateStates,
  writeGeneration,
} from './state-queries.ts';
import { joinSegments } from './segments.ts';
import { generationOf, StateStore } from './state-store.ts';
import {
  emptyView,
  hasStarted,
  mergeViews,
  readView,
  viewBytes,
  watchMsOf,
  writeView,
  type ViewState,
} from './view-state.ts';

export type EngagementOptions = {
  /** A view or a session ends when it has had no event for this long. */
  readonly sessionTimeoutMs: number;
};

const name = 'engagement';
const itemTables = ['content_counter', 'segment_counter', 'viewer_set', 'content_day'] as const;

/** @param followers make other tables from the same views and sessions */
export function createEngagement(
  options: EngagementOptions,
  followers: readonly EngagementFollower[],
): EventProjection {
  return {
    name,
    tables: [
      'content_counter',
      'audience_counter',
      'segment_counter',
      'content_day',
      'viewer_set',
      ...stateTables,
      ...followers.flatMap(({ tables }) => tables),
    ],
    createWriter: () => new EngagementWriter(options.sessionTimeoutMs, followers),
    maxDuty: 1,
    // Counters say how often something happened, not to whom. Of sets, those that are estimates only
    // know the highest rank of a register, from which nobody can be taken out.
    async eraseViewer(tx, viewer) {
      let removed = 0;
      for (const key of await erasedKeys(tx, viewer)) {
        for (const table of stateTables) removed += await deleteStatesOf(tx, table, key);
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
    tables: ['view_state_a', 'view_state_b'],
    sizeBytes: viewBytes,
    remembered: 60_000,
    empty: emptyView,
    read: readView,
    write: writeView,
  });
  readonly #sessions = new StateStore<SessionState>({
    tables: ['session_state_a', 'session_state_b'],
    sizeBytes: sessionBytes,
    remembered: 40_000,
    empty: emptySession,
    read: readSession,
    write: writeSession,
  });
  readonly #counters = new CounterStore();
  readonly #followers: readonly EngagementFollower[];
  readonly #secrets = new ViewerSecrets();
  readonly #blocks = new ClockedBlocks((block, clock) => this.#collect(block, clock));
  /** By generation: a pass may span several, above all in a rebuild. */
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
    collectBlock(pass, block, { idleMs: this.#idleMs, generation, clock });
  }

  async write(tx: Tx): Promise<void> {
    await this.#blocks.settle(tx);
    const passes = [...this.#passes].toSorted(([a], [b]) => a - b);
    this.#passes = new Map();
    for (const [generation, pass] of passes) {
      await this.#writePass(tx, pass, await this.#enterGeneration(tx, generation));
    }
  }

  async #writePass(tx: Tx, pass: EngagementPass, generation: number): Promise<void> {
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
    await this.#counters.write(tx, pass);
    for (const follower of this.#followers) {
      const changes = {
        views: changesOf(views, viewsBefore, newViews),
        sessions: changesOf(sessions, sessionsBefore, newSessions),
      };
      await follower.write(tx, changes, generation);
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
   * Empties the tables that a new generation takes over. The log's time decides, not the clock's.
   *
   * @returns the generation to write: a block may come a moment late for its own
   */
  async #enterGeneration(tx: Tx, generation: number): Promise<number> {
    const known = await readGeneration(tx, name);
    if (generation <= known) return known;
    const odd = generation % 2 === 1;
    const taken = stateTables.filter((table) => table.endsWith(odd ? '_b' : '_a'));
    await truncateStates(tx, generation === known + 1 ? taken : stateTables);
    await writeGeneration(tx, name, generation);
    this.#views.forget();
    this.#sessions.forget();
    return generation;
  }
}

/** What a pass has touched, and the keys of its states. */
class Touched<Value> {
  readonly keys: string[] = [];
  readonly values: Value[] = [];

  add(key: string, value: Value): void {
    this.keys.push(key);
    this.values.push(value);
  }
}

function changesOf<State>(
  touched: Touched<TouchedBy>,
  before: readonly State[][],
  after: readonly State[][],
): Changed<State>[] {
  return after.map((states, index) => ({
    organizationId: touched.values[index]?.organizationId ?? '',
    viewer: touched.values[index]?.hash ?? '',
    before: before[index] ?? [],
    after: states,
  }));
}

/** Whose it is. */
type TouchedBy = { readonly organizationId: string; readonly hash: Hash };
type TouchedSession = TouchedBy & {
  readonly organization: OrganizationPass;
  readonly pass: SessionPass;
};
type TouchedView = TouchedBy & {
  readonly organization: OrganizationPass;
  readonly pass: ViewPass;
  /** The viewer's number in sets of viewers. */
  readonly member: number;
};

function keyTouched(
  secrets: ViewerSecrets,
  pass: EngagementPass,
  views: Touched<TouchedView>,
  sessions: Touched<TouchedSession>,
): void {
  for (const [organizationId, organization] of pass) {
    for (const [viewer, sessionsOfViewer] of organization.viewers) {
      const hash = hashViewer(secrets, organizationId, viewer);
      const member = memberOf(hash);
      for (const [name, session] of sessionsOfViewer) {
        sessions.add(hash + hashText(name), { organizationId, hash, organization, pass: session });
        for (const view of session.views.values()) {
          const key = hash + hashText(`${view.contentId}\0${name}\0${view.viewId}`);
          views.add(key, { organizationId, hash, organization, pass: view, member });
        }
      }
    }
  }
}

/** Counts views as they are now, and no longer as they were before. @returns how they are now */
function countViews(
  { organization, pass, member }: TouchedView,
  before: readonly ViewState[],
  idleMs: number,
): ViewState[] {
  const { contentId, watchHours } = pass;
  for (const hour of watchHours) {
    // The sets have known these hours since earlier events.
    const isKnown = before.some(
      (view) => hour === view.firstWatchHour || hour === view.lastWatchHour,
    );
    if (!isKnown) addWatcher(organization, contentId, hour * hourMs, member);
  }
  const after = joinSegments(before, pass.states, idleMs, mergeViews);
  for (const view of before) {
    if (!after.includes(view)) addView(organization, contentId, view, -1);
  }
  for (const view of after) {
    if (before.includes(view)) continue;
    view.quartersAhead = organization.clock.quartersAheadAt(view.firstAt);
    addView(organization, contentId, view, 1);
  }
  return after;
}

function addView(
  organization: OrganizationPass,
  contentId: string,
  view: ViewState,
  times: 1 | -1,
): void {
  const { device, country } = view;
  const begun = localMoment(view.firstAt, view.quartersAhead);
  const watchMs = watchMsOf(view);
  const hour = begun - (begun % hourMs);
  const day = begun - (begun % dayMs);
  const audience = audienceKey(device.value, country.value);
  const rows = [
    contentCounts(organization, contentId, hour),
    audienceCounts(organization, hour, audience),
    segmentCounts(organization, contentId, day, audience),
  ];
  addViewCounts(rows, view, times);
  const isWatched = hasStarted(view);
  if (!isWatched && watchMs === 0) return;
  const detail = detailOf(organization, contentId, day);
  addToBreakdown(detail.devices, device.value, 0, watchMs * times);
  addToBreakdown(detail.countries, country.value, 0, watchMs * times);
  if (isWatched) addPosition(detail, reachedMs(view), times);
}

function addPosition({ positions }: ContentDetail, positionMs: number, times: 1 | -1): void {
  const second = positionStep(positionMs);
  positions.set(second, (positions.get(second) ?? 0) + times);
}

/** The same for sessions. */
function countSessions(
  { organization, pass }: TouchedSession,
  before: readonly SessionState[],
  idleMs: number,
): SessionState[] {
  const after = joinSegments(before, pass.states, idleMs, mergeSessions);
  for (const session of before) {
    if (!after.includes(session)) addSession(organization, session, -1);
  }
  for (const session of after) {
    if (before.includes(session)) continue;
    session.quartersAhead = organization.clock.quartersAheadAt(session.firstAt);
    addSession(organization, session, 1);
  }
  return after;
}

function addSession(organization: OrganizationPass, session: SessionState, times: 1 | -1): void {
  const begun = localMoment(session.firstAt, session.quartersAhead);
  const hour = begun - (begun % hourMs);
  const key = audienceKey(session.device.value, session.country.value);
  addSessionCounts(audienceCounts(organization, hour, key), session, times);
}

function newPass(): EngagementPass {
  return new Map();
}
