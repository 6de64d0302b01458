/**
 * The projection `engagement`: views and sessions, the counters, the distributions and the sets of
 * viewers.
 */
import type { Tx } from '../../../platform/database/database.ts';
import type { EventBlock } from '../../events/events.ts';
import type { Projection, ProjectionWriter } from '../projecting/projection.ts';
import { hashText, hashViewer, memberOf } from '../viewer-key.ts';
import { addToBreakdown, positionStep, type ContentDetail } from './content-detail.ts';
import { addSessionCounts, addViewCounts, reachedMs } from './contribution.ts';
import { CounterStore } from './counter-store.ts';
import {
  addWatcher,
  audienceCounts,
  audienceKey,
  collectBlock,
  contentCounts,
  dayMs,
  detailOf,
  type EngagementPass,
  type OrganizationPass,
  type SessionPass,
  type ViewPass,
} from './engagement-pass.ts';
import {
  mergeSessions,
  readSession,
  sessionBytes,
  writeSession,
  type SessionState,
} from './session-state.ts';
import { readGeneration, stateTables, truncateStates, writeGeneration } from './state-queries.ts';
import { StateStore } from './state-store.ts';
import {
  hourMs,
  mergeViews,
  readView,
  viewBytes,
  writeView,
  type ViewState,
} from './view-state.ts';

export const engagement: Projection = {
  name: 'engagement',
  tables: ['content_counter', 'audience_counter', 'content_day', 'viewer_set', ...stateTables],
  createWriter: () => new EngagementWriter(),
  mostDuty: 1,
};

const generationMs = 3 * dayMs;

class EngagementWriter implements ProjectionWriter {
  readonly #views = new StateStore<ViewState>({
    tables: ['view_state_a', 'view_state_b'],
    sizeBytes: viewBytes,
    remembered: 60_000,
    read: readView,
    write: writeView,
  });
  readonly #sessions = new StateStore<SessionState>({
    tables: ['session_state_a', 'session_state_b'],
    sizeBytes: sessionBytes,
    remembered: 40_000,
    read: readSession,
    write: writeSession,
  });
  readonly #counters = new CounterStore();
  #pass: EngagementPass = new Map();
  #receivedAt = 0;

  collect(blocks: readonly EventBlock[]): void {
    for (const block of blocks) {
      collectBlock(this.#pass, block);
      this.#receivedAt = Math.max(this.#receivedAt, block.receivedAt);
    }
  }

  async write(tx: Tx): Promise<void> {
    const pass = this.#pass;
    this.#pass = new Map();
    const generation = await this.#enterGeneration(tx);
    const views = new Touched<TouchedView>();
    const sessions = new Touched<TouchedSession>();
    keyTouched(pass, views, sessions);
    const viewsBefore = await this.#views.load(tx, views.keys, generation);
    const newViews = views.values.map((view, place) => countView(view, viewsBefore[place] ?? null));
    const sessionsBefore = await this.#sessions.load(tx, sessions.keys, generation);
    const newSessions = sessions.values.map((session, place) =>
      countSession(session, sessionsBefore[place] ?? null),
    );
    await this.#counters.write(tx, pass);
    await this.#views.save(tx, views.keys, newViews, generation);
    await this.#sessions.save(tx, sessions.keys, newSessions, generation);
  }

  forget(): void {
    this.#pass = new Map();
    this.#views.forget();
    this.#sessions.forget();
    this.#counters.forget();
  }

  /** Empties the tables that a new generation takes over. The log's time decides, not the clock's. */
  async #enterGeneration(tx: Tx): Promise<number> {
    const known = await readGeneration(tx, engagement.name);
    const generation = Math.floor(this.#receivedAt / generationMs);
    if (generation <= known) return known;
    const odd = generation % 2 === 1;
    const taken = stateTables.filter((table) => table.endsWith(odd ? '_b' : '_a'));
    await truncateStates(tx, generation === known + 1 ? taken : stateTables);
    await writeGeneration(tx, engagement.name, generation);
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

type TouchedSession = { readonly organization: OrganizationPass; readonly pass: SessionPass };
type TouchedView = {
  readonly organization: OrganizationPass;
  readonly pass: ViewPass;
  /** The viewer's number in sets of viewers. */
  readonly member: number;
};

function keyTouched(
  pass: EngagementPass,
  views: Touched<TouchedView>,
  sessions: Touched<TouchedSession>,
): void {
  for (const [organizationId, organization] of pass) {
    for (const [viewer, sessionsOfViewer] of organization.viewers) {
      const hash = hashViewer(organizationId, viewer);
      const member = memberOf(hash);
      for (const [name, session] of sessionsOfViewer) {
        sessions.add(hash + hashText(name), { organization, pass: session });
        for (const view of session.views.values()) {
          const key = hash + hashText(`${view.contentId}\0${name}\0${view.viewId}`);
          views.add(key, { organization, pass: view, member });
        }
      }
    }
  }
}

/** Counts a view as it is now, and no more as it was before. @returns how it is now */
function countView(
  { organization, pass, member }: TouchedView,
  before: ViewState | null,
): ViewState {
  const { contentId, watchHours } = pass;
  for (const hour of watchHours) {
    // The sets have known these hours since the events before.
    if (hour === before?.firstWatchHour || hour === before?.lastWatchHour) continue;
    addWatcher(organization, contentId, hour * hourMs, member);
  }
  if (before === null) {
    addView(organization, contentId, pass.state, 1);
    return pass.state;
  }
  const state = mergeViews(before, pass.state);
  addView(organization, contentId, before, -1);
  addView(organization, contentId, state, 1);
  return state;
}

function addView(
  organization: OrganizationPass,
  contentId: string,
  view: ViewState,
  times: 1 | -1,
): void {
  const { firstAt, device, country, watchMs } = view;
  const hour = firstAt - (firstAt % hourMs);
  const audience = audienceKey(device.value, country.value);
  const rows = [
    contentCounts(organization, contentId, hour),
    audienceCounts(organization, hour, audience),
  ];
  addViewCounts(rows, view, times);
  const isWatched = view.plays > 0 || view.progressReports > 0;
  if (!isWatched && watchMs === 0) return;
  const detail = detailOf(organization, contentId, firstAt - (firstAt % dayMs));
  addToBreakdown(detail.devices, device.value, 0, watchMs * times);
  addToBreakdown(detail.countries, country.value, 0, watchMs * times);
  if (isWatched) addPosition(detail, reachedMs(view), times);
}

function addPosition({ positions }: ContentDetail, positionMs: number, times: 1 | -1): void {
  const second = positionStep(positionMs);
  positions.set(second, (positions.get(second) ?? 0) + times);
}

/** The same for a session. */
function countSession(
  { organization, pass }: TouchedSession,
  before: SessionState | null,
): SessionState {
  if (before === null) {
    addSession(organization, pass.state, 1);
    return pass.state;
  }
  const state = mergeSessions(before, pass.state);
  addSession(organization, before, -1);
  addSession(organization, state, 1);
  return state;
}

function addSession(organization: OrganizationPass, session: SessionState, times: 1 | -1): void {
  const hour = session.firstAt - (session.firstAt % hourMs);
  const key = audienceKey(session.device.value, session.country.value);
  addSessionCounts(audienceCounts(organization, hour, key), session, times);
}
