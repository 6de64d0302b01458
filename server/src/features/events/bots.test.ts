import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sampleEvent } from '../../../test/event-samples.ts';
import { createReadyItems } from '../../../test/seed.ts';
import { eventually, startService, type TestService } from '../../../test/service.ts';
import { openStoredEvents } from '../../../test/stored-events.ts';
import { isKnownBot } from './bots.ts';
import type { EventKind } from './events.ts';

const crawler = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)';

test('crawlers, previews and checks are known; browsers, apps and plain HTTP clients are not', () => {
  for (const userAgent of [
    crawler,
    'Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)',
    'facebookexternalhit/1.1',
    'Mozilla/5.0 (compatible; Baiduspider/2.0)',
    'Slackbot-LinkExpanding 1.0',
    'Mozilla/5.0 (Linux; Android 11) Chrome/130.0 Mobile Safari/537.36 Chrome-Lighthouse',
  ]) {
    assert.ok(isKnownBot(userAgent), userAgent);
  }
  for (const userAgent of [
    undefined,
    'node',
    'curl/8.5.0',
    'okhttp/4.9.0',
    'MyApp/3 CFNetwork/1490 Darwin/23',
    'Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Safari/604.1',
    'Mozilla/5.0 (Linux; Android 13; CUBOT X50) Chrome/130.0 Mobile Safari/537.36',
    'Mozilla/5.0 (X11; Linux x86_64) HeadlessChrome/130.0',
  ]) {
    assert.ok(!isKnownBot(userAgent), userAgent);
  }
});

describe('events of a known bot', () => {
  const countedLikes = async (service: TestService): Promise<number> => {
    const stored = await openStoredEvents(service);
    const [id = ''] = await createReadyItems(service, 1);
    const post = (kind: EventKind, userAgent: string) =>
      service.call('POST', '/v1/events', {
        key: service.publishableKey,
        body: sampleEvent(kind, id),
        headers: { 'user-agent': userAgent },
      });
    assert.equal((await post('like', crawler)).status, 200);
    await post('save', 'Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X)');
    assert.deepEqual(
      (await stored.fresh()).map(({ event, bot }) => [event, bot]),
      [
        ['like', true],
        ['save', undefined],
      ],
    );
    // The save came later, so the like is counted by then, or never.
    return eventually('the save to be counted', async () => {
      const { body } = await service.call('GET', '/v1/analytics/overview');
      const { saves, likes } = body.data.summary;
      return saves === 1 ? likes : null;
    });
  };

  test('are marked, and left out of statistics', async () => {
    const service = await startService({ REELFEED_ROLES: 'api,worker' });
    assert.equal(await countedLikes(service), 0);
  });

  test('are counted where the setting says so', async () => {
    const service = await startService({
      REELFEED_ROLES: 'api,worker',
      REELFEED_BOT_EVENTS: 'count',
    });
    assert.equal(await countedLikes(service), 1);
  });
});
