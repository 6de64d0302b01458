/** Proves the minutes of the last hour against a recount. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newUuid7 } from '../../../platform/values/uuid7.ts';
import { silentLog } from '../../../../test/database.ts';
import { openDatabase } from '../../../platform/database/database.ts';
import { rebuildProjection } from '../../../platform/projections/rebuild.ts';
import { openEventLog, type LoggedEvent } from '../../events/events.ts';
import { realtime } from '../projections/realtime/realtime.ts';
import { risingItems } from './realtime-report.ts';
import { makeItems, startReportService } from '../../../../test/recount/reports.ts';

const minuteMs = 60_000;
const service = await startReportService();
const items = makeItems(4);
await service.insertItems(items);

type Minute = { minute: string; plays: number; likes: number; viewers: number };
type Answer = {
  now: string;
  minutes: Minute[];
  total: { plays: number; viewers: number; likes: number };
  viewersLastFiveMinutes: number;
  top: { contentId: string; plays: number }[];
  rising: { contentId: string; plays: number }[];
};

/** Two hours of plays, with the third item dominating the last minutes. */
function makeEvents(nowMs: number): LoggedEvent[] {
  const events: LoggedEvent[] = [];
  const add = (minutesAgo: number, item: number, viewer: number, event: 'playStart' | 'like') =>
    events.push({
      eventId: newUuid7(),
      event,
      contentId: items[item]?.id ?? '',
      at: nowMs - minutesAgo * minuteMs,
      userId: `user-${viewer}`,
      data: {},
    });
  for (let ago = 0; ago < 110; ago += 1) {
    for (let item = 0; item < 3; item += 1) add(ago, item, ago % 7, 'playStart');
    if (ago % 10 === 0) add(ago, 0, 99, 'like');
    if (ago < 5) for (let more = 0; more < 6; more += 1) add(ago, 2, 10 + more, 'playStart');
  }
  return events;
}

const events = makeEvents(Date.now());

function check(answer: Answer): void {
  const within = (startMs: number, minutes: number) =>
    events.filter(({ at }) => at >= startMs && at < startMs + minutes * minuteMs);
  const plays = (some: readonly LoggedEvent[]) => some.filter(({ event }) => event === 'playStart');
  const viewers = (some: readonly LoggedEvent[]) =>
    new Set(plays(some).map(({ userId }) => userId)).size;
  assert.equal(answer.minutes.length, 60);
  for (const { minute, plays: counted, likes, viewers: people } of answer.minutes) {
    const own = within(Date.parse(minute), 1);
    assert.deepEqual(
      [counted, likes, people],
      [plays(own).length, own.length - plays(own).length, viewers(own)],
      minute,
    );
  }
  const all = within(Date.parse(answer.minutes[0]?.minute ?? ''), 60);
  assert.equal(answer.total.plays, plays(all).length);
  assert.equal(answer.total.viewers, viewers(all));
  assert.deepEqual(answer.top[0], {
    ...answer.top[0],
    contentId: items[2]?.id,
    plays: plays(all).filter(({ contentId }) => contentId === items[2]?.id).length,
  });
  assert.deepEqual(
    answer.rising.map(({ contentId }) => contentId),
    [items[2]?.id],
  );
}

test('minutes, viewers and items match the recount, live and rebuilt', async () => {
  await service.append(events, [40, 7]);
  await service.projected();
  // Responses are shared for a second; the first one is computed now.
  check((await service.read('realtime')) as Answer);
  const { body, text } = await service.ask('realtime');
  assert.ok(Date.now() - Date.parse(String(body.meta['asOf'])) < 60_000, text);
  await using database = openDatabase({
    connection: service.connection,
    poolSize: 4,
    log: silentLog,
  });
  const { db } = database;
  const { signal } = new AbortController();
  await rebuildProjection(realtime, { db, eventLog: openEventLog(db), signal });
  const { secretKey } = service;
  const csv = await service.call('GET', '/v1/analytics/realtime', {
    key: secretKey,
    headers: { accept: 'text/csv' },
  });
  assert.match(csv.text, /^minute,impressions,plays,.*,viewers\r\n/);
  await service.projected();
  check((await service.read('realtime')) as Answer);
  assert.equal((await service.ask('realtime', { device: 'ios' })).status, 400);
});

test('an item rises only if chance does not explain it', () => {
  const item = { contentId: 'a', title: 'A', impressions: 0, likes: 0 };
  const nowMs = Date.UTC(2026, 0, 1, 12);
  const spans = { nowMs, recentMs: nowMs - 10 * minuteMs, fromMs: nowMs - 60 * minuteMs };
  const rises = (plays: number, recentPlays: number) =>
    risingItems([{ ...item, plays, recentPlays }], spans).length > 0;
  // Ten of 60 plays are expected, standard deviation 2.89; 19 is the first value above 3σ.
  assert.deepEqual(
    [18, 19].map((recent) => rises(60, recent)),
    [false, true],
  );
  assert.equal(rises(4, 4), false, 'too few');
  const [found] = risingItems([{ ...item, plays: 60, recentPlays: 35 }], spans);
  assert.deepEqual(
    [found?.playsPerMinute, found?.playsPerMinuteBefore, found?.change],
    [3.5, 0.5, 6],
  );
});
