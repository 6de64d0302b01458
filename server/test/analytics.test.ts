/** From the request that sends an event to the reports and feed pages that show it. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Recount } from './recount/recount.ts';
import { waitForProjections } from './recount/reports.ts';
import { makeTraffic, shuffled } from './recount/traffic.ts';
import type { EventKind, LoggedEvent } from '../src/features/events/events.ts';
import { sampleEvent } from './event-samples.ts';
import { createOrganization, createReadyItems } from './seed.ts';
import { eventually, send, startService } from './service.ts';

const service = await startService();
const dayMs = 86_400_000;
const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);

/** An event as a client sends it. */
function toRequest({ at, ...event }: LoggedEvent): object {
  return { ...event, timestamp: new Date(at).toISOString() };
}

test('a day of traffic, sent shuffled and twice, matches the recount', async () => {
  const ids = await createReadyItems(service, 8, (index) => ({ tags: [`tag-${index % 2}`] }));
  const now = Date.now();
  const traffic = makeTraffic({
    seed: 5,
    contentIds: ids,
    startMs: now - 23 * 3_600_000,
    endMs: now - 60_000,
    viewers: 40,
    sessions: 120,
  });
  const sent = shuffled([...traffic, ...traffic], 9);
  const batches: LoggedEvent[][] = [];
  for (let at = 0; at < sent.length; at += 97) batches.push(sent.slice(at, at + 97));
  const work = batches.values();
  const sendAll = async () => {
    for (const batch of work) {
      const { body, text } = await service.call('POST', '/v1/events/batch', {
        key: service.publishableKey,
        body: { events: batch.map(toRequest) },
      });
      assert.deepEqual(body?.data?.received, batch.length, text);
    }
  };
  await Promise.all([sendAll(), sendAll(), sendAll(), sendAll()]);
  await waitForProjections(service);
  const { body: listed } = await service.call('GET', '/v1/content?limit=100');
  const items = listed.data.map(({ id, title, tags }: Record<string, unknown>) => ({
    id,
    title,
    tags,
  }));
  const recount = new Recount(traffic, items);
  const range = { startDate: dayOf(now - dayMs), endDate: dayOf(now) };
  const hours = { ...range, granularity: 'hour' } as const;
  const read = async (path: string, params: Record<string, string>) => {
    const { body } = await service.call(
      'GET',
      `/v1/analytics/${path}?${new URLSearchParams(params)}`,
    );
    return body.data as unknown;
  };
  assert.deepEqual(await read('overview', hours), recount.overview(hours));
  assert.deepEqual(await read('content', range), recount.content(range));
  // The weight of feedback depends on the credibility of viewers; see `reports.test.ts`.
  const { feedback, ...item } = (await read(`content/${ids[0]}`, hours)) as { feedback: unknown };
  assert.ok(feedback);
  assert.deepEqual(item, recount.item(ids[0] ?? '', hours));
  assert.deepEqual(
    await read('engagement', { ...range, segment: 'tag' }),
    recount.engagement(range, 'tag'),
  );
  assert.deepEqual(await read('retention', range), recount.retention(range, Date.now()));
});

/** Sends an event and measures the time from its response until `isShown` is true. */
async function delayMs(
  sendIt: () => Promise<{ status: number }>,
  isShown: () => Promise<boolean>,
): Promise<number> {
  assert.equal((await sendIt()).status, 200);
  const answeredAt = performance.now();
  return eventually('the event to be shown', async () =>
    (await isShown()) ? performance.now() - answeredAt : null,
  );
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Infinity;
}

test('every report states the time that it covers, and responds as CSV', async () => {
  const own = await createOrganization(service, 'As CSV');
  const { id } = await createOwnItem(own);
  await sendEvent(own, 'like', id);
  const answeredAt = Date.now();
  const reports = [
    'overview',
    'audience',
    'content',
    `content/${id}`,
    'engagement',
    'quality',
    'retention',
  ];
  const url = (report: string) => `${service.url}/v1/analytics/${report}`;
  await eventually('the event to be in the reports', async () => {
    const { body } = await send(url('overview'), 'GET', { key: own.secretKey });
    return Date.parse(body.meta.asOf) > answeredAt ? true : null;
  });
  const { body } = await send(url('overview'), 'GET', { key: own.secretKey });
  assert.equal(body.data.summary.likes, 1, 'what was answered before asOf is counted');
  for (const report of reports) {
    const answer = await fetch(url(report), {
      headers: { authorization: `Bearer ${own.secretKey}`, accept: 'text/csv' },
    });
    assert.match(answer.headers.get('content-type') ?? '', /^text\/csv/, report);
    assert.ok(Date.parse(answer.headers.get('x-as-of') ?? '') > answeredAt, report);
    const [header = '', ...lines] = (await answer.text()).trimEnd().split('\r\n');
    assert.ok(header.split(',').length > 2 && lines.length > 0, report);
  }
});

describe('acknowledged events are shown', () => {
  test('by reports within a second', async () => {
    const own = await createOrganization(service, 'Fresh reports');
    const { id } = await createOwnItem(own);
    const delays: number[] = [];
    for (let likes = 1; likes <= 5; likes += 1) {
      const delay = await delayMs(
        () => sendEvent(own, 'like', id),
        async () => {
          const url = `${service.url}/v1/analytics/overview`;
          const { body } = await send(url, 'GET', { key: own.secretKey });
          return body.data.summary.likes === likes;
        },
      );
      delays.push(delay);
    }
    assert.ok(median(delays) < 1_000, delays.join(', '));
  });

  test('by feed pages within a second, with plays as views', async () => {
    const own = await createOrganization(service, 'Fresh feed');
    const { id } = await createOwnItem(own);
    const engagement = async () => {
      const url = `${service.url}/v1/feed`;
      const { body } = await send(url, 'GET', { key: own.publishableKey });
      const item = body.data.find((one: { id: string }) => one.id === id);
      return item?.engagement;
    };
    const expected = { views: 0, likes: 0, shares: 0, saves: 0 };
    await eventually('the feed to show the item', async () => (await engagement()) ?? null);
    assert.deepEqual(await engagement(), expected);
    const delays: number[] = [];
    for (const [kind, name, by] of [
      ['playStart', 'views', 1],
      ['like', 'likes', 1],
      ['share', 'shares', 1],
      ['save', 'saves', 1],
      ['unlike', 'likes', -1],
      ['unsave', 'saves', -1],
      ['like', 'likes', 1],
      ['playStart', 'views', 1],
    ] as const) {
      expected[name] += by;
      const delay = await delayMs(
        () => sendEvent(own, kind, id),
        async () => JSON.stringify(await engagement()) === JSON.stringify(expected),
      );
      delays.push(delay);
    }
    assert.ok(median(delays) < 1_000, delays.join(', '));
    const { body } = await send(`${service.url}/v1/feed?explain=true`, 'GET', {
      key: own.secretKey,
    });
    assert.deepEqual(body.data[0].engagement, expected, 'also beside an explanation');
    assert.equal(typeof body.data[0].ranking.score, 'number');
  });
});

type Organization = { secretKey: string; publishableKey: string };

function sendEvent({ publishableKey: key }: Organization, kind: EventKind, id: string) {
  return send(`${service.url}/v1/events`, 'POST', { key, body: sampleEvent(kind, id) });
}

async function createOwnItem({ secretKey }: Organization): Promise<{ id: string }> {
  const [id = ''] = await createReadyItems(
    {
      ...service,
      call: (method, path, call) => send(service.url + path, method, { key: secretKey, ...call }),
    },
    1,
  );
  return { id };
}
