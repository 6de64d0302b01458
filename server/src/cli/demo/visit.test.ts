/** Tests that the demo's viewers watch plausibly, in order, and the same way each time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { demoClips } from './clips.ts';
import type { FeedClips } from './feed-clips.ts';
import { pastEvents } from './past-visits.ts';
import { appealOf } from './taste.ts';
import { demoViewers } from './viewers.ts';

const nowMs = Date.parse('2026-03-01T12:34:56.789Z');
const dayMs = 24 * 3_600_000;
const feed: FeedClips = {
  feedId: 'fed_1',
  // Time-ordered ids, newest first.
  clips: demoClips.map(({ externalId, title, tags, picture }, index) => ({
    id: `${99 - index}-${externalId}`,
    title,
    tags,
    duration: picture.seconds,
    shortSide: Math.min(picture.width, picture.height),
  })),
};
const pastOf = (clips = feed.clips, atMs = nowMs) =>
  demoViewers.flatMap((viewer) => pastEvents(viewer, { ...feed, clips }, atMs));
const past = pastOf();
const idsOf = (events: typeof past) => new Set(events.map(({ eventId }) => eventId));

test('the past is the same each time, and each of its events is one of its own', () => {
  assert.deepEqual(pastOf(), past);
  assert.deepEqual(pastOf(feed.clips.toReversed()), past, 'in whatever order the feed shows clips');
  assert.equal(idsOf(past).size, past.length);
});

test('all of it lies within the last day, and in each hour somebody watches', () => {
  const moments = past.map(({ timestamp }) => Date.parse(timestamp));
  assert.ok(Math.min(...moments) > nowMs - dayMs);
  assert.ok(Math.max(...moments) < nowMs);
  assert.equal(new Set(past.map(({ timestamp }) => timestamp.slice(0, 13))).size, 24);
});

test('an hour later the visits are the same, except those that are a day ago by then', () => {
  const later = idsOf(pastOf(feed.clips, nowMs + 3_600_000));
  const both = past.filter(({ timestamp }) => Date.parse(timestamp) > nowMs - 22 * 3_600_000);
  assert.ok(both.length > 1_000);
  assert.deepEqual(
    both.filter(({ eventId }) => !later.has(eventId)),
    [],
  );
});

test('a new clip gets views of its own and leaves those of the others as they were', () => {
  const [newest, ...others] = feed.clips;
  assert.ok(newest !== undefined);
  const known = idsOf(pastOf(others));
  const added = past.filter(({ eventId }) => !known.has(eventId));
  const watched = added.filter(({ event }) => event !== 'swipe');
  assert.ok(watched.length > 100);
  assert.deepEqual(new Set(watched.map(({ contentId }) => contentId)), new Set([newest.id]));
});

test('every kind of event comes, by users and devices of several countries', () => {
  const kinds = new Set(past.map(({ event }) => event));
  assert.equal(kinds.size, 11);
  assert.ok(new Set(past.map(({ country }) => country)).size >= 5);
  assert.equal(new Set(past.map(({ device }) => device)).size, 3);
  assert.ok(past.some(({ userId }) => userId === undefined));
  assert.ok(
    past.every(({ deviceId, sessionId }) => deviceId !== undefined && sessionId !== undefined),
  );
});

test('within a view the times go on, and nothing follows before the clip has started', () => {
  const views = Map.groupBy(
    past.filter(({ event }) => event !== 'swipe'),
    ({ sessionId, contentId }) => `${sessionId} ${contentId}`,
  );
  for (const events of views.values()) {
    const kinds = events.map(({ event }) => event);
    assert.equal(kinds[0], 'impression');
    if (events.length > 1)
      assert.ok(kinds[1] === 'playStart' || kinds[1] === 'error', kinds.join());
    assert.deepEqual(
      events,
      events.toSorted((a, b) => a.timestamp.localeCompare(b.timestamp)),
    );
    const watched = events.flatMap(({ event, data }) =>
      event === 'watchProgress' ? [Number(data.watchTime)] : [],
    );
    assert.deepEqual(
      watched,
      watched.toSorted((a, b) => a - b),
    );
    assert.ok(kinds.filter((kind) => kind === 'completion').length <= 1);
  }
});

test('clips that appeal are watched to the end and liked more often', () => {
  const shares = { keen: { plays: 0, ends: 0, likes: 0 }, bored: { plays: 0, ends: 0, likes: 0 } };
  for (const viewer of demoViewers) {
    const keen = new Set(
      feed.clips.filter((clip) => appealOf(viewer, clip) > 0.5).map(({ id }) => id),
    );
    for (const { event, contentId = '' } of pastEvents(viewer, feed, nowMs)) {
      const share = keen.has(contentId) ? shares.keen : shares.bored;
      if (event === 'playStart') share.plays += 1;
      if (event === 'completion') share.ends += 1;
      if (event === 'like') share.likes += 1;
    }
  }
  const { keen, bored } = shares;
  assert.ok(keen.ends / keen.plays > 1.3 * (bored.ends / bored.plays), JSON.stringify(shares));
  assert.ok(keen.likes / keen.plays > 1.3 * (bored.likes / bored.plays), JSON.stringify(shares));
});
