/** Compares a service's journey responses with a recount, live and after a rebuild. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { atEnd, silentLog } from '../database.ts';
import { openDatabase } from '../../src/platform/database/database.ts';
import { rebuildProjection } from '../../src/platform/projections/rebuild.ts';
import { dayMs } from '../../src/platform/values/time.ts';
import { insertExperiment } from './recount-experiment.ts';
import type { RecountedItem } from './recount.ts';
import { makeItems, startReportService, type ReportService } from './reports.ts';
import { createRandom, makeTraffic } from './traffic.ts';
import { openEventLog, type LoggedEvent } from '../../src/features/events/events.ts';
import { journeyEvents } from '../../src/features/journeys/projection.ts';
import { dates, questions, startMs } from './journey-questions.ts';
import type { Is } from './recount-groups.ts';
import { JourneyRecount } from './recount-journeys.ts';

const viewerCount = 1_000;

/** Some viewers act before they sign in, and some make a purchase. */
function makeJourneys(seed: number, eventCount: number, items: readonly RecountedItem[]) {
  const random = createRandom(seed);
  const traffic = makeTraffic({
    seed,
    contentIds: items.map(({ id }) => id),
    startMs,
    endMs: startMs + 7 * dayMs,
    viewers: viewerCount,
    sessions: Math.ceil(eventCount / 25),
  });
  return traffic.flatMap((event): LoggedEvent[] => {
    const { userId, ...anonymous } = event;
    const seen = userId !== undefined && random() < 0.1 ? anonymous : event;
    if (random() > 0.04) return [seen];
    const data = {
      ...(random() < 0.9 && { amount: Math.round(random() * 5_000) / 100 }),
      ...(random() < 0.8 && { currency: random() < 0.5 ? 'EUR' : 'USD' }),
    };
    const bought: LoggedEvent = {
      ...seen,
      eventId: `bought ${event.eventId}`,
      event: 'custom.purchase',
      data,
      // Some at the same time.
      at: seen.at + Math.floor(random() * 3) * 1_000,
    };
    return [seen, bought];
  });
}

/** @param eventCount minimum number of events to send */
export async function compareJourneys(eventCount: number): Promise<void> {
  const items = makeItems(15, (index) => ['all', `group-${index % 3}`]).map((item, index) => ({
    ...item,
    ...(index % 4 < 3 && { author: `author ${index % 4}` }),
    ...(index % 3 < 2 && { language: index % 3 === 0 ? 'en' : 'de' }),
  }));
  const events = makeJourneys(29, eventCount, items);
  const service = await startReportService();
  const recount = (only?: Is) => new JourneyRecount(events, items, only);
  let experiment = '';

  before(async () => {
    assert.ok(events.length >= eventCount, `${events.length} events`);
    await service.insertItems(items);
    const metric = {
      name: 'bought',
      type: 'sum',
      event: 'custom.purchase',
      field: 'amount',
      where: [{ field: 'currency', operator: 'exists', value: true }],
    };
    assert.equal((await service.call('POST', '/v1/metrics', { body: metric })).status, 201);
    await service.append(events, [700, 30, 2_000]);
    experiment = await insertExperiment(service, viewerCount);
    await service.projected();
  });

  const compareAll = async () => {
    for (const [path, body, expected] of questions(recount, items, experiment)) {
      const asked = { ...dates, ...body };
      const {
        status,
        text,
        body: answer,
      } = await service.call('POST', `/v1/analytics/${path}`, {
        body: asked,
      });
      assert.equal(status, 200, text);
      assert.deepEqual(
        answer.data,
        JSON.parse(JSON.stringify(expected)),
        `${path} ${JSON.stringify(body)}`,
      );
    }
  };

  describe(`journeys of ${eventCount} events match the recount`, () => {
    test('counted live', compareAll);

    test('after a rebuild', async () => {
      await rebuild(service);
      await service.projected();
      await compareAll();
    });
  });
}

async function rebuild({ connection }: ReportService): Promise<void> {
  const database = openDatabase({ connection, poolSize: 4, log: silentLog });
  atEnd(() => database[Symbol.asyncDispose]());
  const { db } = database;
  const { signal } = new AbortController();
  await rebuildProjection(journeyEvents, { db, eventLog: openEventLog(db), signal });
}
