import { dayMs } from '../../../../platform/values/time.ts';
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { LoggedEvent } from '../../../events/events.ts';
import { hourMs } from '../../../../platform/values/time.ts';
import { createRandom, makeTraffic, shuffled } from '../../../../../test/recount/traffic.ts';
import { hashText } from '../../statistics/viewer-key.ts';
import { addViewCounts, columnIndex, emptyContentCounts } from './contribution.ts';
import {
  addToSession,
  emptySession,
  mergeSessions,
  readSession,
  sessionBytes,
  writeSession,
} from './session-state.ts';
import { readView, viewBytes, writeView } from './view-codec.ts';
import { addToView, emptyView, mergeViews, watchMsOf, type ViewState } from './view-state.ts';

const endMs = Date.UTC(2026, 10, 21);

/** Random event sets of a single view, of any kind and number. */
function eventSets(count: number): LoggedEvent[][] {
  const all = makeTraffic({
    seed: 21,
    contentIds: ['0198c0de-0000-7000-8000-000000000001', '0198c0de-0000-7000-8000-000000000002'],
    startMs: endMs - dayMs,
    endMs,
    viewers: 20,
    sessions: 200,
  });
  const random = createRandom(5);
  return Array.from({ length: count }, (_, index) => {
    const size = 1 + Math.floor(random() * 25);
    return shuffled(all, index).slice(0, size);
  });
}

function viewOf(events: readonly LoggedEvent[]) {
  const view = emptyView();
  for (const event of events) addToView(view, event, Math.floor(event.at / hourMs));
  return view;
}

/** Eight characters, like a hash. */
function userOf({ userId }: LoggedEvent): string {
  return userId === undefined ? '' : hashText(userId);
}

function sessionOf(events: readonly LoggedEvent[]) {
  const session = emptySession();
  for (const event of events) addToSession(session, event, userOf(event));
  return session;
}

describe('states are functions of sets of events', () => {
  const random = createRandom(9);

  test('in any order, and merged from any parts in any order', () => {
    for (const [index, events] of eventSets(400).entries()) {
      const expected = viewOf(events);
      const mixed = shuffled(events, index);
      assert.deepEqual(viewOf(mixed), expected);
      const parts = [];
      for (let at = 0; at < mixed.length;) {
        const size = 1 + Math.floor(random() * 6);
        parts.push(mixed.slice(at, at + size));
        at += size;
      }
      const merged = shuffled(parts, index).map(viewOf).reduce(mergeViews);
      assert.deepEqual(merged, expected);
      const sessions = shuffled(parts, index + 1)
        .map(sessionOf)
        .reduce(mergeSessions);
      assert.deepEqual(sessions, sessionOf(events));
    }
  });

  test('the counts of a view are subtracted exactly', () => {
    for (const events of eventSets(100)) {
      const counts = emptyContentCounts();
      let before: ViewState | null = null;
      for (const event of events) {
        const after: ViewState =
          before === null ? viewOf([event]) : mergeViews(before, viewOf([event]));
        if (before !== null) addViewCounts([counts], before, -1);
        addViewCounts([counts], after, 1);
        before = after;
      }
      const atOnce = emptyContentCounts();
      addViewCounts([atOnce], viewOf(events), 1);
      assert.deepEqual(counts, atOnce);
    }
  });

  test('and survive being stored', () => {
    for (const events of eventSets(200)) {
      const bytes = Buffer.alloc(viewBytes + 3);
      writeView(viewOf(events), bytes, 3);
      assert.deepEqual(readView(bytes, 3), viewOf(events));
      const stored = Buffer.alloc(sessionBytes);
      writeSession(sessionOf(events), stored, 0);
      assert.deepEqual(readSession(stored, 0), sessionOf(events));
    }
  });
});

describe('a view', () => {
  const contentId = '0198c0de-0000-7000-8000-000000000001';
  const event = (
    kind: LoggedEvent['event'],
    data: LoggedEvent['data'],
    at = endMs,
  ): LoggedEvent => ({
    eventId: `${kind} ${at}`,
    event: kind,
    contentId,
    at,
    data,
  });

  test('is the largest cumulative watch time of any event', () => {
    const view = viewOf([
      event('watchProgress', { currentTime: 12.5, duration: 15, watchTime: 20 }),
      event('completion', { watchTime: 31, looped: true }),
      event('swipe', { fromContentId: contentId, watchTimeOnFrom: 30 }),
    ]);
    assert.deepEqual([watchMsOf(view), view.positionMs], [31_000, 12_500]);
  });

  test('falls back to the position only if no event reports a watch time: scrubbing is not watching', () => {
    const scrubbed = event('watchProgress', { currentTime: 590, duration: 600 });
    assert.equal(watchMsOf(viewOf([scrubbed])), 590_000);
    const told = event('swipe', { fromContentId: contentId, watchTimeOnFrom: 2 });
    assert.equal(watchMsOf(viewOf([scrubbed, told])), 2_000);
    assert.equal(watchMsOf([told, scrubbed].map((one) => viewOf([one])).reduce(mergeViews)), 2_000);
    const nothing = event('watchProgress', { currentTime: 590, duration: 600, watchTime: 0 });
    assert.equal(watchMsOf(viewOf([nothing])), 0);
  });

  test('is at most a day, and ignores values that are not numbers', () => {
    const view = viewOf([
      event('watchProgress', { currentTime: 1e300, duration: -4 }),
      event('completion', { watchTime: '12', looped: false }),
      event('rebuffer', { duration: Number.NaN, currentTime: 1 }),
      event('rebuffer', { duration: 250.4, currentTime: 1 }),
    ]);
    assert.deepEqual([watchMsOf(view), view.stallMs], [dayMs, 250]);
  });

  test('counts as left before its start only without a play, progress or error', () => {
    const exits = (events: LoggedEvent[]) => {
      const counts = emptyContentCounts();
      addViewCounts([counts], viewOf(events), 1);
      return [counts[columnIndex.startable_views], counts[columnIndex.exits_before_start]];
    };
    const seen = event('impression', { position: 0 });
    const left = event('swipe', { fromContentId: contentId, watchTimeOnFrom: 1.2 });
    assert.deepEqual(exits([seen, left]), [1, 1]);
    assert.deepEqual(exits([seen]), [1, 0], 'left within a second, it was only swiped past');
    assert.deepEqual(exits([event('impression', { position: 0, visibleSeconds: 1 })]), [1, 1]);
    assert.deepEqual(exits([seen, event('like', {}, endMs + 1_000)]), [1, 1]);
    assert.deepEqual(exits([seen, event('playStart', { startupTime: 1 })]), [1, 0]);
    assert.deepEqual(exits([seen, event('error', { errorCode: 'X', errorMessage: '' })]), [1, 0]);
    assert.deepEqual(exits([event('like', {})]), [0, 0]);
  });
});
