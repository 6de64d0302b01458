/**
 * Proves that one person is one viewer before and after login, on every device that they used
 * first.
 */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { eventually } from '../../../../test/service.ts';
import { query } from '../../../../test/seed.ts';
import { dayMs } from '../../../platform/values/time.ts';
import type { LoggedEvent } from '../../events/events.ts';
import { FilteredRecount } from '../../../../test/recount/recount-filtered.ts';
import type { Filter } from '../../../../test/recount/recount-filtered-metrics.ts';
import type { Range } from '../../../../test/recount/recount.ts';
import { makeItems, startReportService } from '../../../../test/recount/reports.ts';
import { makeTraffic, shuffled } from '../../../../test/recount/traffic.ts';

const today = Math.floor(Date.now() / dayMs) * dayMs;
const startMs = today - 6 * dayMs;
const dayOf = (daysAgo: number) => new Date(today - daysAgo * dayMs).toISOString().slice(0, 10);
const items = makeItems(8, (index) => ['all', `group-${index % 2}`]);
const made = makeTraffic({
  seed: 31,
  contentIds: items.map(({ id }) => id),
  startMs,
  endMs: startMs + 6 * dayMs,
  viewers: 50,
  sessions: 200,
});

/** For two days people watch without logging in; later another user logs in on some devices. */
const traffic = made.map((event): LoggedEvent => {
  const { userId, deviceId, at, ...rest } = event;
  if (userId === undefined || deviceId === undefined) return event;
  if (at < startMs + 2 * dayMs) return { ...rest, at, deviceId };
  const isLent = at > startMs + 5 * dayMs && userId.endsWith('7');
  return { ...rest, at, deviceId, userId: isLent ? 'guest' : userId };
});

/** The first user seen with each device. */
const userOf = new Map<string, string>();
for (const { userId, deviceId } of traffic.toSorted((a, b) => a.at - b.at)) {
  if (userId === undefined || deviceId === undefined || userOf.has(deviceId)) continue;
  userOf.set(deviceId, userId);
}
const recount = new FilteredRecount(traffic, items, (viewer) => {
  const user = viewer.startsWith('device ')
    ? userOf.get(viewer.slice('device '.length))
    : undefined;
  return user === undefined ? viewer : `user ${user}`;
});

const service = await startReportService();
const range: Range = { startDate: dayOf(6), endDate: dayOf(0) };
const filters: Filter[] = [{}, { country: 'DE' }, { entryPoint: 'search' }, { tag: 'group-1' }];

before(async () => {
  await service.insertItems(items);
  await service.append(shuffled([...traffic, ...traffic], 5), [70]);
  await service.projected();
});

type Summed = { summary: { uniqueViewers: number }; timeseries: { uniqueViewers: number }[] };

describe('one viewer before and after login', () => {
  test('the traffic has devices that were used without and with a user', () => {
    const anonymous = traffic.filter(
      ({ userId, deviceId }) => userId === undefined && userOf.has(deviceId ?? ''),
    );
    assert.ok(anonymous.length > 500, `${anonymous.length} events`);
    assert.ok(traffic.some(({ userId }) => userId === 'guest'));
  });

  test('unique viewers of the organization and of items, with filters and without', async () => {
    for (const filter of filters) {
      const asked = { ...range, ...filter };
      const viewersOf = ({ summary, timeseries }: Summed) =>
        [summary, ...timeseries].map(({ uniqueViewers }) => uniqueViewers);
      assert.deepEqual(
        viewersOf((await service.read('overview', asked)) as Summed),
        viewersOf(recount.overview(filter, range)),
        JSON.stringify(filter),
      );
      const listed = (await service.read('content', asked)) as {
        contentId: string;
        metrics: { uniqueViewers: number };
      }[];
      const expected = new Map(
        recount.content(filter, range).map((item) => [item.contentId, item.metrics.uniqueViewers]),
      );
      assert.deepEqual(
        new Map(listed.map((item) => [item.contentId, item.metrics.uniqueViewers])),
        expected,
      );
    }
    const id = items[0]?.id ?? '';
    assert.equal(
      ((await service.read(`content/${id}`, range)) as Summed).summary.uniqueViewers,
      recount.item(id, {}, range).summary.uniqueViewers,
    );
  });

  test('active, new and returning viewers, and retention', async () => {
    for (const filter of filters.slice(1)) {
      const asked = { ...range, ...filter };
      const about = JSON.stringify(filter);
      assert.deepEqual(
        await service.read('audience', asked),
        recount.audience(filter, range),
        about,
      );
      const cohorts = recount.retention(filter, range);
      assert.deepEqual(await service.read('retention', asked), cohorts, about);
    }
    const all = await service.read('retention', range);
    assert.deepEqual(all, recount.retention({}, range));
    const { newViewers } = (await service.read('audience', range)) as { newViewers: number };
    assert.equal(newViewers, recount.audience({}, range).newViewers);
  });

  test('an erased user is no longer linked to a device', async () => {
    const userId = [...userOf.values()].find((user) => user !== 'guest') ?? '';
    const countLinks = async () => {
      const [row] = await query(service, 'select count(*)::int as links from viewer_link');
      return Number(row?.['links']);
    };
    const links = await countLinks();
    assert.equal((await service.call('DELETE', `/v1/users/${userId}/data`)).status, 200);
    await eventually('the erasure', async () => {
      const { body } = await service.call('GET', `/v1/users/${userId}/data`);
      return body.data.status === 'complete' ? true : null;
    });
    const erased = [...userOf.values()].filter((user) => user === userId).length;
    assert.equal(await countLinks(), links - erased);
  });
});
