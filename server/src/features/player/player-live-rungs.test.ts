/** A browser plays the rungs of a broadcast, and through them a broadcast in HEVC. */
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { createStream, freePort, publish } from '../../../test/live-publisher.ts';
import { scaled } from '../../../test/scale.ts';
import { eventually } from '../../../test/service.ts';
import { playing, startPlayerPages } from '../../../test/player/player.ts';

const port = await freePort();
const { options, pages } = await startPlayerPages({
  REELFEED_RTMP_PORT: String(port),
  REELFEED_LIVE_RENDITIONS: '240',
});

for (const codec of scaled(['h264'] as const, ['h264', 'hevc'] as const)) {
  test(`a broadcast in ${codec} with a rung plays`, options, async (context) => {
    const { service } = pages;
    const stream = await createStream(service, { title: codec });
    const size = { width: 360, height: 640 };
    await using publishing = await publish(port, stream.streamKey, 1, codec, size);
    await eventually('the stream at the head of the feed', async () => {
      const { body } = await service.call('GET', '/v1/feed');
      return body.data[0]?.id === stream.contentId ? true : null;
    });
    const { page, errors } = await pages.visit(context);
    assert.equal(await playing(page), `slide-${stream.contentId}`);
    const video = page.locator('.slide:not([inert]) video');
    const state = () =>
      video.evaluate((element) => {
        const { currentTime, videoWidth } = element as HTMLVideoElement;
        return { currentTime, videoWidth };
      });
    const first = await state();
    const later = await eventually('the picture to go on', async () => {
      const now = await state();
      return now.currentTime > first.currentTime + 4 ? now : null;
    });
    const canPlayTop = await page.evaluate(() =>
      MediaSource.isTypeSupported('video/mp4; codecs="hvc1.1.6.L60.90"'),
    );
    if (codec === 'hevc' && !canPlayTop) assert.equal(later.videoWidth, 240);
    assert.deepEqual(errors, []);
    await publishing.end();
    await service.call('POST', `/v1/live-streams/${stream.id}/end`);
  });
}
