/** Proves that a viewer who has fallen behind a broadcast catches up by playing faster, and no longer. */
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { createStream, freePort, publish } from '../../../test/live-publisher.ts';
import { eventually } from '../../../test/service.ts';
import { playing, startPlayerPages } from '../../../test/player/player.ts';

const port = await freePort();
const { options, pages } = await startPlayerPages({
  REELFEED_RTMP_PORT: String(port),
  REELFEED_LIVE_RENDITIONS: 'off',
});
const patienceMs = 120_000;

test(
  'who has paused for some seconds plays faster until the distance is gone',
  options,
  async (context) => {
    const { service } = pages;
    const stream = await createStream(service, { title: 'Long day', latency: 'normal' });
    await using _publishing = await publish(port, stream.streamKey, 1);
    await eventually('the stream in the feed', async () => {
      const { body } = await service.call('GET', '/v1/feed');
      return body.data[0]?.id === stream.contentId ? true : null;
    });
    const { page, errors } = await pages.visit(context);
    assert.equal(await playing(page), `slide-${stream.contentId}`);
    const video = page.locator('.slide:not([inert]) video');
    const state = () =>
      video.evaluate((element) => {
        const { buffered, currentTime, playbackRate } = element as HTMLVideoElement;
        const loaded = buffered.length === 0 ? 0 : buffered.end(buffered.length - 1);
        return { currentTime, playbackRate, ahead: loaded - currentTime };
      });
    const before = await eventually(
      'the ordinary speed',
      async () => {
        const now = await state();
        return now.currentTime > 1 && now.playbackRate === 1 ? now : null;
      },
      patienceMs,
    );
    await video.evaluate((element) => (element as HTMLVideoElement).pause());
    await eventually('the broadcast to go on', async () =>
      (await state()).ahead > before.ahead + 2 ? true : null,
    );
    await video.evaluate((element) => (element as HTMLVideoElement).play());
    const fast = await eventually('a higher speed', async () => {
      const now = await state();
      return now.playbackRate > 1 ? now : null;
    });
    assert.ok(fast.playbackRate <= 1.1, `it plays at ${fast.playbackRate}`);
    await eventually(
      'the ordinary speed without the distance',
      async () => {
        const now = await state();
        return now.playbackRate === 1 && now.ahead < fast.ahead - 1 ? now : null;
      },
      patienceMs,
    );
    assert.deepEqual(errors, []);
  },
);
