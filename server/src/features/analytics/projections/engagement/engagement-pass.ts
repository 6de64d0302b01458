/**
 * Collects the engagement data of one pass over the log in memory: event counts, and the states of
 * each view and session from the events of this pass alone. It knows nothing about the tables.
 */
import { getOrMake, newMap } from '../../../../platform/values/maps.ts';
import { dayMs, hourMs } from '../../../../platform/values/time.ts';
import type { EventBlock, LoggedEvent } from '../../../events/events.ts';
import type { ZoneClock } from '../../../../platform/values/zone-clock.ts';
import { sessionOwnerOf, viewerOf, type Hash } from '../../statistics/viewer-key.ts';
import { addToBreakdown, emptyDetail, type ContentDetail } from './content-detail.ts';
import { addTo, emptyAudienceCounts, emptyContentCounts, type Counts } from './contribution.ts';
import { countedColumnOf } from './counted-kinds.ts';
import { isWithinReach, joinSegments } from './segments.ts';
import { addToSession, emptySession, mergeSessions, type SessionState } from './session-state.ts';
import { addToView, emptyView, mergeViews, viewedContentOf, type ViewState } from './view-state.ts';

export type ViewPass = {
  readonly contentId: string;
  /** Distinguishes several views of one item in one session. */
  readonly viewId: string;
  /** Ascending, split by pauses. */
  states: ViewState[];
  /**
   * The local hours in which it was watched and in which the viewer reacted, without duplicates.
   */
  readonly watchHours: number[];
  readonly reactionHours: number[];
};

export type WatchedPass = { readonly views: Map<string, ViewPass> };

export type SessionPass = {
  states: SessionState[];
  user: { readonly id: string; readonly hash: Hash } | null;
};

/** Keys are times in milliseconds, items, or device and country joined by `audienceKey`. */
export type OrganizationPass = {
  /** The clock that defines hours and days. All time keys are in its local time. */
  readonly clock: ZoneClock;
  readonly viewers: Map<string, Map<string, WatchedPass>>;
  /** By owner, then session name. */
  readonly sessions: Map<string, Map<string, SessionPass>>;
  readonly contents: Map<string, Map<number, Counts>>;
  readonly audience: Map<number, Map<string, Counts>>;
  /** By item, then day. */
  readonly details: Map<string, Map<number, ContentDetail>>;
  readonly watchers: Members;
  /** Viewers who liked, shared or saved. */
  readonly reactors: Members;
};

export type Members = {
  readonly ofItems: Map<string, Map<number, Set<number>>>;
  readonly byHour: Map<number, Set<number>>;
};

export type EngagementPass = Map<string, OrganizationPass>;

export type CollectOptions = {
  /** A view or a session ends after this long without an event. */
  readonly idleMs: number;
  /** See state-store.ts. */
  readonly generation: number;
  readonly clock: ZoneClock;
  readonly hashUser: (organizationId: string, userId: string) => Hash;
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
      sessions: new Map(),
      contents: new Map(),
      audience: new Map(),
      details: new Map(),
      watchers: { ofItems: new Map(), byHour: new Map() },
      reactors: { ofItems: new Map(), byHour: new Map() },
    };
    pass.set(organizationId, organization);
  }
  // A block holds whole client batches, so consecutive events usually share a session.
  let before: LoggedEvent | null = null;
  let current: Current | null = null;
  for (const event of events) {
    const contentId = viewedContentOf(event);
    countPlainly(organization, event, contentId);
    if (before === null || !isSameSession(before, event)) {
      current = currentOf(organization, event);
    }
    before = event;
    if (current === null) continue;
    const user = userHashOf(current.session, organizationId, event, options);
    addToSessionStates(current.session, event, user, options);
    if (contentId !== null) addToViewOf(current.watched, contentId, event, options);
  }
}

function countPlainly(
  organization: OrganizationPass,
  event: LoggedEvent,
  contentId: string | null,
): void {
  const { event: kind, at } = event;
  const column = countedColumnOf(kind);
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

/** Compares the sessions of two events without building a key. */
export function isSameSession(a: LoggedEvent, b: LoggedEvent): boolean {
  return a.sessionId === b.sessionId && a.userId === b.userId && a.deviceId === b.deviceId;
}

type Current = { readonly session: SessionPass; readonly watched: WatchedPass };

function currentOf(organization: OrganizationPass, event: LoggedEvent): Current | null {
  const [viewer, owner] = [viewerOf(event), sessionOwnerOf(event)];
  if (viewer === null || owner === null) return null;
  const { sessionId } = event;
  // Without an id, only pauses separate sessions.
  const name = sessionId === undefined ? '' : `s:${sessionId}`;
  const watched = getOrMake(organization.viewers, viewer, newMap<string, WatchedPass>);
  const sessions = getOrMake(organization.sessions, owner, newMap<string, SessionPass>);
  return {
    watched: getOrMake(watched, name, makeWatched),
    session: getOrMake(sessions, name, makeSession),
  };
}

/** Hashes a user only once for consecutive events of a session. */
function userHashOf(
  session: SessionPass,
  organizationId: string,
  { userId }: LoggedEvent,
  { hashUser }: CollectOptions,
): Hash {
  if (userId === undefined) return '';
  if (session.user?.id !== userId) {
    session.user = { id: userId, hash: hashUser(organizationId, userId) };
  }
  return session.user.hash;
}

function addToSessionStates(
  session: SessionPass,
  event: LoggedEvent,
  user: Hash,
  { idleMs, generation }: CollectOptions,
): void {
  const [first] = session.states;
  // Nearly always there is a single state, to which the event belongs.
  if (
    first !== undefined &&
    session.states.length === 1 &&
    isWithinReach(first, event.at, idleMs)
  ) {
    addToSession(first, event, user);
    return;
  }
  const fresh = emptySession(generation);
  addToSession(fresh, event, user);
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
  watched: WatchedPass,
  contentId: string,
  event: LoggedEvent,
  options: CollectOptions,
): void {
  const { viewId } = event.data;
  const isNamed = typeof viewId === 'string' || typeof viewId === 'number';
  const name = isNamed ? `${contentId} ${viewId}` : contentId;
  let view = watched.views.get(name);
  if (view === undefined) {
    view = {
      contentId,
      viewId: isNamed ? `${viewId}` : '',
      states: [],
      watchHours: [],
      reactionHours: [],
    };
    watched.views.set(name, view);
  }
  addToViewStates(view, event, options);
  const { event: kind, at } = event;
  if (kind === 'playStart' || kind === 'watchProgress' || kind === 'completion') {
    addHour(view.watchHours, hourOf(options.clock.localOf(at)));
  } else if (kind === 'like' || kind === 'share' || kind === 'save') {
    addHour(view.reactionHours, hourOf(options.clock.localOf(at)));
  }
}

function addHour(hours: number[], hour: number): void {
  if (!hours.includes(hour)) hours.push(hour);
}

function hourOf(local: number): number {
  return Math.floor(local / hourMs);
}

/** Device and country as one key; `splitAudienceKey` splits it. */
export function audienceKey(device: string, country: string): string {
  return `${device} ${country}`;
}

export function splitAudienceKey(key: string): { device: string; country: string } {
  const at = key.indexOf(' ');
  return { device: key.slice(0, at), country: key.slice(at + 1) };
}

/** The counts of an item in an hour, which are updated in place. */
export function contentCounts(
  organization: OrganizationPass,
  contentId: string,
  hour: number,
): Counts {
  const hours = getOrMake(organization.contents, contentId, newMap<number, Counts>);
  return getOrMake(hours, hour, emptyContentCounts);
}

export function audienceCounts(organization: OrganizationPass, hour: number, key: string): Counts {
  const parts = getOrMake(organization.audience, hour, newMap<string, Counts>);
  return getOrMake(parts, key, emptyAudienceCounts);
}

export function detailOf(
  organization: OrganizationPass,
  contentId: string,
  day: number,
): ContentDetail {
  const days = getOrMake(organization.details, contentId, newMap<number, ContentDetail>);
  return getOrMake(days, day, emptyDetail);
}

/** Records that a viewer did something with an item in the hour that starts at `hour`. */
export function addMember(
  { ofItems, byHour }: Members,
  contentId: string,
  hour: number,
  member: number,
): void {
  const days = getOrMake(ofItems, contentId, newMap<number, Set<number>>);
  getOrMake(days, hour - (hour % dayMs), makeSet).add(member);
  getOrMake(byHour, hour, makeSet).add(member);
}

function makeSession(): SessionPass {
  return { states: [], user: null };
}

function makeWatched(): WatchedPass {
  return { views: new Map() };
}

function makeSet(): Set<number> {
  return new Set();
}
