/**
 * Counts the views and sessions touched by a pass: subtracts their old states and adds the new
 * ones.
 */
import { dayMs, hourMs } from '../../../../platform/values/time.ts';
import { localMoment } from '../../../../platform/values/zone-clock.ts';
import type { ViewerSecrets } from '../../../organizations/organizations.ts';
import { hashText, hashViewer, memberOf, type Hash } from '../../statistics/viewer-key.ts';
import { addToBreakdown, positionStep } from './content-detail.ts';
import { addSessionCounts, addViewCounts, reachedMs, rerunsOf } from './contribution.ts';
import {
  addMember,
  audienceCounts,
  audienceKey,
  contentCounts,
  detailOf,
  type EngagementPass,
  type OrganizationPass,
  type SessionPass,
  type ViewPass,
} from './engagement-pass.ts';
import type { Changed } from './follower.ts';
import { joinSegments } from './segments.ts';
import { mergeSessions, viewerOfSession, type SessionState } from './session-state.ts';
import { hasStarted, mergeViews, watchMsOf, type ViewState } from './view-state.ts';

/** The states that a pass has touched, with their keys. */
export class Touched<Value> {
  readonly keys: string[] = [];
  readonly values: Value[] = [];

  add(key: string, value: Value): void {
    this.keys.push(key);
    this.values.push(value);
  }
}

export function changesOf<State>(
  touched: Touched<TouchedBy>,
  before: readonly State[][],
  after: readonly State[][],
): Changed<State>[] {
  return after.map((states, index) => ({
    organizationId: touched.values[index]?.organizationId ?? '',
    viewer: touched.values[index]?.hash ?? '',
    contentId: touched.values[index]?.contentId ?? '',
    before: before[index] ?? [],
    after: states,
  }));
}

/**
 * Changes of sessions, each with its previous and current owner, because a login moves a session to
 * the user.
 */
export function sessionChangesOf(
  touched: Touched<TouchedSession>,
  before: readonly SessionState[][],
  after: readonly SessionState[][],
): Changed<SessionState>[] {
  return changesOf(touched, before, after).flatMap((change) => {
    const viewerIn = (session: SessionState) => viewerOfSession(session, change.viewer);
    const viewers = new Set([...change.before, ...change.after].map(viewerIn));
    return [...viewers].map((viewer) => ({
      ...change,
      viewer,
      before: change.before.filter((session) => viewerIn(session) === viewer),
      after: change.after.filter((session) => viewerIn(session) === viewer),
    }));
  });
}

/** The owner; for a session, the hash of its owner. */
type TouchedBy = {
  readonly organizationId: string;
  readonly hash: Hash;
  /** '' for a session. */
  readonly contentId: string;
};
export type TouchedSession = TouchedBy & {
  readonly organization: OrganizationPass;
  readonly pass: SessionPass;
};
export type TouchedView = TouchedBy & {
  readonly organization: OrganizationPass;
  readonly pass: ViewPass;
  /** The viewer's number in viewer sets. */
  readonly member: number;
};

export function keyTouched(
  secrets: ViewerSecrets,
  pass: EngagementPass,
  views: Touched<TouchedView>,
  sessions: Touched<TouchedSession>,
): void {
  for (const [organizationId, organization] of pass) {
    for (const [owner, named] of organization.sessions) {
      const hash = hashViewer(secrets, organizationId, owner);
      for (const [name, session] of named) {
        // The hash input starts with the keyed hash, so that session ids can't be guessed.
        const key = hash + hashText(`${hash}${name}`);
        sessions.add(key, { organizationId, hash, organization, contentId: '', pass: session });
      }
    }
    for (const [viewer, sessionsOfViewer] of organization.viewers) {
      const hash = hashViewer(secrets, organizationId, viewer);
      const member = memberOf(hash);
      for (const [name, watched] of sessionsOfViewer) {
        const touchedBy = { organizationId, hash, organization };
        for (const view of watched.views.values()) {
          const key = hash + hashText(`${hash}${view.contentId}\0${name}\0${view.viewId}`);
          views.add(key, { ...touchedBy, contentId: view.contentId, pass: view, member });
        }
      }
    }
  }
}

/**
 * Subtracts the previous states of a view and adds the current ones.
 *
 * @returns the current states
 */
export function countViews(
  { organization, pass, member }: TouchedView,
  before: readonly ViewState[],
  idleMs: number,
): ViewState[] {
  const { contentId, watchHours, reactionHours } = pass;
  for (const hour of watchHours) {
    // Earlier events have already added these hours to the sets.
    const isKnown = before.some(
      (view) => hour === view.firstWatchHour || hour === view.lastWatchHour,
    );
    if (!isKnown) addMember(organization.watchers, contentId, hour * hourMs, member);
  }
  // Reactions are rare, so their hours are not remembered.
  for (const hour of reactionHours) {
    addMember(organization.reactors, contentId, hour * hourMs, member);
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
  ];
  addViewCounts(rows, view, times);
  const isWatched = hasStarted(view);
  if (!isWatched && watchMs === 0) return;
  const detail = detailOf(organization, contentId, day);
  addToBreakdown(detail.devices, device.value, 0, watchMs * times);
  addToBreakdown(detail.countries, country.value, 0, watchMs * times);
  if (!isWatched) return;
  addPosition(detail.positions, reachedMs(view), times);
  for (const endMs of rerunsOf(view)) addPosition(detail.reruns, endMs, times);
}

function addPosition(steps: Map<number, number>, positionMs: number, times: 1 | -1): void {
  const second = positionStep(positionMs);
  steps.set(second, (steps.get(second) ?? 0) + times);
}

/** Like `countViews`, for sessions. */
export function countSessions(
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
