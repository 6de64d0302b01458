/**
 * Proves that sessions of many viewers on two processes repeat nothing, skip nothing, and never
 * show ineligible items, while items appear, disappear and expire and viewers like them.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { createOrganization, createReadyItems, query } from './seed.ts';
import { eventually, startService, type TestService } from './service.ts';

const env = { REELFEED_ROLES: 'api,worker', REELFEED_FEED_RANKING_BUDGET: '30s' };
const service = await startService(env);
const second = await startService(env, { beside: service });
const processes = [service, second] as const;

const viewers = 200;
const itemCount = 110;
const pageSize = 12;
/** Time that the processes may take to notice a change on a busy machine. */
const settledMs = 3_000;

test('200 viewers page through a changing library on two processes', async (context) => {
  const keys = await createOrganization(service, 'Crowd');
  const own: TestService = {
    ...service,
    ...keys,
    call: (method, path, call) => service.call(method, path, { key: keys.secretKey, ...call }),
  };
  const ids = await createReadyItems(own, itemCount, (index) => ({
    tags: [`tag-${index % 12}`, `tag-${index % 5}`],
    author: `author-${index % 20}`,
  }));
  const read = async (from: TestService, search: string) => {
    const reply = await from.call('GET', `/v1/feed?${search}`, { key: keys.secretKey });
    assert.equal(reply.status, 200, reply.text);
    return reply.body;
  };
  for (const one of processes) {
    await eventually('the items', async () =>
      (await read(one, 'limit=50')).data.length === 50 ? true : null,
    );
  }
  /** When an item left the feed, by the test's clock. */
  const goneAt = new Map<string, number>();
  const doomed = ids.slice(0, 30);
  const living = ids.slice(30);
  const counts = { repeats: 0, gaps: 0, ineligible: 0, pages: 0, wrongScores: 0 };

  const browse = async (viewer: number) => {
    const userId = `viewer-${viewer}`;
    const shown = new Set<string>();
    let cursor: string | null = null;
    for (let page = 0; page < 60; page += 1) {
      const from = processes[(viewer + page) % 2] ?? service;
      const search = `limit=${pageSize}&userId=${userId}&explain=true`;
      const askedAt = performance.now();
      const { data, meta } = await read(
        from,
        cursor === null ? search : `${search}&cursor=${cursor}`,
      );
      counts.pages += 1;
      for (const { id, ranking } of data) {
        if (shown.has(id)) counts.repeats += 1;
        shown.add(id);
        if (askedAt - (goneAt.get(id) ?? Infinity) > settledMs) counts.ineligible += 1;
        if (!isExplained(ranking)) counts.wrongScores += 1;
      }
      await react(from, userId, data);
      cursor = meta.nextCursor;
      if (cursor === null) break;
    }
    counts.gaps += living.filter((id) => !shown.has(id)).length;
  };

  const react = async (to: TestService, userId: string, items: { id: string }[]) => {
    const events = items.slice(0, 3).flatMap(({ id: contentId }) => [
      { eventId: randomUUID(), event: 'playStart', contentId, userId, data: { startupTime: 50 } },
      { eventId: randomUUID(), event: 'like', contentId, userId },
    ]);
    if (events.length === 0) return;
    const call = { key: keys.publishableKey, body: { events } };
    const reply = await to.call('POST', '/v1/events/batch', call);
    assert.equal(reply.status, 200, reply.text);
  };

  let isOver = false;
  const change = async () => {
    for (const [index, id] of doomed.entries()) {
      if (isOver) return;
      const changes = [
        { publishStatus: 'unpublished' },
        { visibility: 'private' },
        { expiresAt: new Date(Date.now() + 50).toISOString() },
      ];
      if (index % 4 === 3) await own.call('DELETE', `/v1/content/${id}`);
      else await own.call('PATCH', `/v1/content/${id}`, { body: changes[index % 4] });
      goneAt.set(id, performance.now() + 50);
      await createReadyItems(own, 1, () => ({ author: `author-${index % 20}` }));
      await own.call('PATCH', `/v1/content/${living[index]}`, {
        body: { title: `Touched ${index}` },
      });
    }
  };

  const changing = change();
  let next = 0;
  const walk = async () => {
    while (next < viewers) {
      next += 1;
      await browse(next);
    }
  };
  await Promise.all(Array.from({ length: 8 }, walk));
  isOver = true;
  await changing;
  context.diagnostic(`${counts.pages} pages, ${goneAt.size} items left the feed meanwhile`);
  assert.ok(counts.pages >= 1_000);
  assert.ok(goneAt.size > 0);
  const { pages: _, ...faults } = counts;
  assert.deepEqual(faults, { repeats: 0, gaps: 0, ineligible: 0, wrongScores: 0 });
  const { rows } = { rows: await query(service, 'select count(*) as n from feed_viewer') };
  assert.ok(Number(rows[0]?.['n']) > 0);
});

type Ranking = {
  score: number;
  signals: Record<string, number>;
  weights: Record<string, number>;
};

/** Whether the signals add up to the score within 1e-6. */
function isExplained({ score, signals, weights }: Ranking): boolean {
  const names = Object.keys(weights);
  const total = names.reduce((sum, name) => sum + (weights[name] ?? 0), 0);
  const sum = names.reduce((all, name) => all + (weights[name] ?? 0) * (signals[name] ?? 0), 0);
  const areUnits = names.every((name) => (signals[name] ?? -1) >= 0 && (signals[name] ?? 2) <= 1);
  return names.length === 6 && areUnits && Math.abs(sum / total - score) < 1e-6;
}
