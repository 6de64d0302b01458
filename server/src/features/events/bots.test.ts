import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sampleEvent } from '../../../test/event-samples.ts';
import { createReadyItems } from '../../../test/seed.ts';
import { eventually, startService, type TestService } from '../../../test/service.ts';
import { openStoredEvents } from '../../../test/stored-events.ts';
import { isKnownBot } from './bots.ts';
import type { EventKind } from './events.ts';

const crawler = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)';

const bots = [
  crawler,
  'Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X Build/MMB29P) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Mobile Safari/537.36 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
  'Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)',
  'Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)',
  'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.1; +https://openai.com/gptbot)',
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_5) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/13.1.1 Safari/605.1.15 (Applebot/0.1)',
  'ClaudeBot/1.0',
  'CCBot/2.0 (https://commoncrawl.org/faq/)',
  'Mozilla/5.0 (compatible; Bytespider; spider-feedback@bytedance.com)',
  'facebookexternalhit/1.1',
  'WhatsApp/2.23.20.0',
  'TelegramBot (like TwitterBot)',
  'Slackbot-LinkExpanding 1.0',
  'Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)',
  'Mozilla/5.0 (compatible; Baiduspider/2.0)',
  'Mozilla/5.0 (compatible; YandexBot/3.0; +http://yandex.com/bots)',
  'Mozilla/5.0 (compatible; Yahoo! Slurp)',
  'Mozilla/5.0 (Windows NT 6.1; WOW64) SkypeUriPreview Preview/0.5',
  'Mozilla/5.0 (Linux; Android 11) Chrome/130.0 Mobile Safari/537.36 Chrome-Lighthouse',
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/130.0 Safari/537.36',
  'Mozilla/5.0 (Unknown; Linux x86_64) AppleWebKit/538.1 (KHTML, like Gecko) PhantomJS/2.1.1 Safari/538.1',
  'Mozilla/5.0 (compatible; Google-InspectionTool/1.0)',
  'Mediapartners-Google',
  'Pingdom.com_bot_version_1.4_(http://www.pingdom.com/)',
  'Mozilla/5.0+(compatible; UptimeRobot/2.0; http://www.uptimerobot.com/)',
  'ia_archiver (+http://www.alexa.com/site/help/webmasters)',
  'python-requests/2.31.0',
  'Scrapy/2.11.0 (+https://scrapy.org)',
  'Wget/1.21.4',
  'Java/17.0.9',
  'Apache-HttpClient/4.5.14 (Java/17.0.9)',
  'Go-http-client/2.0',
];

const people = [
  undefined,
  '',
  'node',
  'curl/8.5.0',
  'okhttp/4.9.0',
  'MyShop/412 okhttp/4.12.0',
  'MyApp/3 CFNetwork/1490 Darwin/23',
  'MyApp/2.0.1 (iPhone; iOS 17.4; Scale/3.00)',
  'Dalvik/2.1.0 (Linux; U; Android 14; Pixel 8 Build/UD1A.230803.041)',
  'Dart/3.2 (dart:io)',
  'ReactNative/1',
  'ExoPlayer/2.18 (Linux;Android 13)',
  'AppleCoreMedia/1.0.0.21A329 (iPhone; U; CPU OS 17_0 like Mac OS X; en_us)',
  'Preview Studio/3.2 (iPad; iOS 17.1)',
  'Spider Solitaire/1.0 (Linux; Android 14)',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Safari/604.1',
  'Mozilla/5.0 (Linux; Android 13; CUBOT X50) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Mobile Safari/537.36',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 [FBAN/FBIOS;FBAV/440.0]',
  'Mozilla/5.0 (Linux; Android 13) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/118.0 Mobile Safari/537.36 Instagram 300.0',
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.1 Safari/605.1.15',
  'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0',
];

describe('by its User-Agent', () => {
  for (const userAgent of bots) {
    test(`a bot: ${userAgent}`, () => assert.ok(isKnownBot(userAgent)));
  }
  for (const userAgent of people) {
    test(`no bot: ${userAgent}`, () => assert.ok(!isKnownBot(userAgent)));
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
    // The save came after the like, so once the save is counted, the like either has been counted
    // or never will be.
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
