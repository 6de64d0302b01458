/**
 * What one pass over the log says about engagement, gathered in memory: plain counts, and for each
 * view and session the states of the pass's events alone. It knows nothing of the tables.
 */
import { dayMs, hourMs } from '../../../../platform/time.ts';
import type { EventBlock, LoggedEvent } from '../../../events/events.ts';
import type { ZoneClock } from '../../../../platform/zone-clock.ts';
import { viewerOf } from '../../statistics/viewer-key.ts';
import { addToBreakdown, emptyDetail, type ContentDetail } from './content-detail.ts';
import {
  addTo,
  emptyAudienceCounts,
  emptyContentCounts,
  plainColumnOf,
  type Counts,
} from './contribution.ts';
import { isWithinReach, joinSegments } from './segments.ts';
import { addToSession, emptySession, mergeSessions, type SessionState } from './session-state.ts';
import { addToView, emptyView, mergeViews, viewedContentOf, type ViewState } from './view-state.ts';

export type ViewPass = {
  readonly contentId: string;
  /** What tells several views of one item in one session apart. */
  readonly viewId: string;
  /** Ascending, cut by pauses. */
  states: ViewState[];
  /** The hours of the clock in which it was watched, each once. */
  readonly watchHours: number[];
};

export type SessionPass = { states: SessionState[]; readonly views: Map<string, ViewPass> };

/** Keys are moments in milliseconds, items, and devices with countries as `audienceKey` joins them. */
export type OrganizationPass = {
  /** By what clock hours and days are cut; all keys that are moments are those of the clock. */
  readonly clock: ZoneClock;
  readonly viewers: Map<string, Map<string, SessionPass>>;
  readonly contents: Map<string, Map<number, Counts>>;
  readonly audience: Map<number, Map<string, Counts>>;
  /** By item and day. */
  readonly details: Map<string, Map<number, ContentDetail>>;
  /** Viewers who watched: each item by day, and anything by hour. */
  readonly watchersOfItems: Map<string, Map<number, Set<number>>>;
  readonly watchersByHour: Map<number, Set<number>>;
};

export type EngagementPass = Map<string, OrganizationPass>;

export type CollectOptions = {
  /** A view or a session ends when it has had no event for this long. */
  readonly idleMs: number;
  /** See state-store.ts. */
  readonly generation: number;
  readonly clock: ZoneClock;
};

export function collectBlock(
  pass: EngagementPass,
  { organizationId, events }: EventBlock,
  options: CollectOptions,
): void {
  let organization = pass.get(organizationId);
  if (organization === undefined) {
    organization = {
      clock: options.clock,
      viewers: new Map(),
      contents: new Map(),
      audience: new Map(),
      details: new Map(),
      watchersOfItems: new Map(),
      watchersByHour: new Map(),
    };
    pass.set(organizationId, organization);
  }
  // A block holds the batches of clients, so the next event is most often of the same session.
  let before: LoggedEvent | null = null;
  let session: SessionPass | null = null;
  for (const event of events) {
    const contentId = viewedContentOf(event);
    countPlainly(organization, event, contentId);
    if (before === null || !isSameSession(before, event)) {
      session = sessionOf(organization, event);
    }
    before = event;
    if (session === null) continue;
    addToSessionStates(session, event, options);
    if (contentId !== null) addToViewOf(session, contentId, event, options);
  }
}

function countPlainly(
  organization: OrganizationPass,
  event: LoggedEvent,
  contentId: string | null,
): void {
  const { event: kind, at } = event;
  const column = plainColumnOf(kind);
  if (column === null) return;
  const local = organization.clock.localOf(at);
  const hour = local - (local % hourMs);
  const { device = '', country = '' } = event;
  addTo(audienceCounts(organization, hour, audienceKey(device, country)), column, 1);
  if (contentId === null) return;
  addTo(contentCounts(organization, contentId, hour), column, 1);
  if (kind !== 'playStart') return;
  const detail = detailOf(organization, contentId, local - (local % dayMs));
  addToBreakdown(detail.devices, device, 1, 0);
  addToBreakdown(detail.countries, country, 1, 0);
}

/** Whether two events are of one session, told without making a key. */
export function isSameSession(a: LoggedEvent, b: LoggedEvent): boolean {
  return a.sessionId === b.sessionId && a.userId === b.userId && a.deviceId === b.deviceId;
}

function sessionOf(organization: OrganizationPass, event: LoggedEvent): SessionPass | null {
  const viewer = viewerOf(event);
  if (viewer === null) return null;
  const { sessionId } = event;
  // Without an id, pauses alone tell sessions apart.
  const name = sessionId === undefined ? '' : `s:${sessionId}`;
  const sessions = getOrMake(organization.viewers, viewer, makeMap<string, SessionPass>);
  return getOrMake(sessions, name, makeSession);
}

function addToSessionStates(
  session: SessionPass,
  event: LoggedEvent,
  { idleMs, generation }: CollectOptions,
): void {
  const [first] = session.states;
  // Nearly always there is one state, and the event belongs to it.
  if (
    first !== undefined &&
    session.states.length === 1 &&
    isWithinReach(first, event.at, idleMs)
  ) {
    addToSession(first, event);
    return;
  }
  const fresh = emptySession(generation);
  addToSession(fresh, event);
  session.states = joinSegments(session.states, [fresh], idleMs, mergeSessions);
}

function addToViewStates(
  view: ViewPass,
  event: LoggedEvent,
  { idleMs, generation, clock }: CollectOptions,
): void {
  const watchHour = hourOf(clock.localOf(event.at));
  const [first] = view.states;
  if (first !== undefined && view.states.length === 1 && isWithinReach(first, event.at, idleMs)) {
    addToView(first, event, watchHour);
    return;
  }
  const fresh = emptyView(generation);
  addToView(fresh, event, watchHour);
  view.states = joinSegments(view.states, [fresh], idleMs, mergeViews);
}

function addToViewOf(
  session: SessionPass,
  contentId: string,
  event: LoggedEvent,
  options: CollectOptions,
): void {
  const { viewId } = event.data;
  const isNamed = typeof viewId === 'string' || typeof viewId === 'number';
  const name = isNamed ? `${contentId} ${viewId}` : contentId;
  let view = session.views.get(name);
  if (view === undefined) {
    view = { contentId, viewId: isNamed ? `${viewId}` : '', states: [], watchHours: [] };
    session.views.set(name, view);
  }
  addToViewStates(view, event, options);
  const { event: kind, at } = event;
  if (kind === 'playStart' || kind === 'watchProgress' || kind === 'completion') {
    const hour = hourOf(options.clock.localOf(at));
    if (!view.watchHours.includes(hour)) view.watchHours.push(hour);
  }
}

function hourOf(local: number): number {
  return Math.floor(local / hourMs);
}

/** Device and country as one key; `splitAudienceKey` takes it apart. */
export function audienceKey(device: string, country: string): string {
  return `${device} ${country}`;
}

export function splitAudienceKey(key: string): { device: string; country: string } {
  const at = key.indexOf(' ');
  return { device: key.slice(0, at), country: key.slice(at + 1) };
}

/** The counts of an item in an hour, which grow in place. */
export function contentCounts(
  organization: OrganizationPass,
  contentId: string,
  hour: number,
): Counts {
  const hours = getOrMake(organization.contents, contentId, makeMap<number, Counts>);
  return getOrMake(hours, hour, emptyContentCounts);
}

export function audienceCounts(organization: OrganizationPass, hour: number, key: string): Counts {
  const parts = getOrMake(organization.audience, hour, makeMap<string, Counts>);
  return getOrMake(parts, key, emptyAudienceCounts);
}

export function detailOf(
  organization: OrganizationPass,
  contentId: string,
  day: number,
): ContentDetail {
  const days = getOrMake(organization.details, contentId, makeMap<number, ContentDetail>);
  return getOrMake(days, day, emptyDetail);
}

/** A viewer watched an item in the hour that begins at `hour`. */
export function addWatcher(
  organization: OrganizationPass,
  contentId: string,
  hour: number,
  member: number,
): void {
  const { watchersOfItems, watchersByHour } = organization;
  const days = getOrMake(watchersOfItems, contentId, makeMap<number, Set<number>>);
  getOrMake(days, hour - (hour % dayMs), makeSet).add(member);
  getOrMake(watchersByHour, hour, makeSet).add(member);
}

export function getOrMake<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}

function makeMap<Key, Value>(): Map<Key, Value> {
  return new Map();
}

function makeSession(): SessionPass {
  return { states: [], views: new Map() };
}

function makeSet(): Set<number> {
  return new Set();
}
