/** Viewer activity: events of every kind, by guests, users and hostile ids, over a day. */
import { eventKinds } from '../../src/features/events/events.ts';
import { sampleData, sampleEvent } from '../event-samples.ts';
import { eventually, type TestService } from '../service.ts';
import { askOf } from './ask.ts';
import { hostileTexts } from './hostile-texts.ts';

/** One person: first a guest on this device, later signed in. */
export const person = { deviceId: 'phone of the person', userId: 'the person' };

const hourMs = 3_600_000;
/** In hours: the intake rejects older events. */
const ages = [0, 1, 5, 11, 17, 23];
const countries = ['DE', 'JP', 'SA', 'IL', 'US'];
const maxBatch = 100;

type Viewer = { userId?: string; deviceId?: string; country?: string; device?: string };

const viewers: readonly Viewer[] = [
  { deviceId: person.deviceId },
  { ...person },
  { userId: 'erased viewer', deviceId: 'erased device' },
  { userId: hostileTexts.script, deviceId: hostileTexts.formula },
  { userId: [...hostileTexts.families].slice(0, 100).join(''), deviceId: 'd3' },
  { userId: '=1+1', deviceId: hostileTexts.arabic },
  ...Array.from({ length: 12 }, (_, n) => ({ userId: `viewer ${n}`, deviceId: `device ${n}` })),
];

export async function sendWorldEvents(
  service: TestService,
  contentIds: readonly string[],
): Promise<number> {
  const ask = askOf(service, service.publishableKey);
  const events = contentIds.flatMap((contentId, item) =>
    viewers.slice(0, 3 + (item % viewers.length)).flatMap((viewer, n) => {
      const ageMs = (ages[(item + n) % ages.length] ?? 0) * hourMs;
      return eventsOfView(contentId, viewer, { ageMs, n });
    }),
  );
  for (let at = 0; at < events.length; at += maxBatch) {
    const batch = { events: events.slice(at, at + maxBatch) };
    const answer = await ask('POST', '/v1/events/batch', batch);
    if (answer.received !== batch.events.length) throw new Error(JSON.stringify(answer));
  }
  const secret = askOf(service);
  await eventually('the reports', async () => {
    const { summary } = await secret('GET', '/v1/analytics/overview');
    return summary.plays > 0 ? true : null;
  });
  return events.length;
}

function eventsOfView(
  contentId: string,
  viewer: Viewer,
  { ageMs, n }: { ageMs: number; n: number },
): object[] {
  const startMs = Date.now() - ageMs - 60_000;
  const texts: Partial<Record<string, object>> = {
    error: { errorCode: hostileTexts.script, errorMessage: hostileTexts.image },
    share: { platform: n % 2 === 0 ? hostileTexts.hebrew : 'messages' },
    impression: { entryPoint: n % 3 === 0 ? hostileTexts.template : 'feed' },
  };
  return eventKinds.map((kind, index) =>
    sampleEvent(kind, contentId, {
      ...{ userId: undefined, deviceId: undefined, ...viewer },
      sessionId: `session ${n} ${ageMs}`,
      country: countries[n % countries.length],
      device: ['ios', 'android', 'web'][n % 3],
      appVersion: n % 2 === 0 ? hostileTexts.formula : '1.2.3',
      timestamp: new Date(startMs + index * 1_000).toISOString(),
      data: {
        ...(kind === 'swipe' && { fromContentId: contentId }),
        ...sampleData[kind],
        ...texts[kind],
      },
    }),
  );
}
