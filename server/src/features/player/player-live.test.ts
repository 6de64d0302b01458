/** Proves that a live stream plays in a browser, and that its viewer learns of its end. */
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { createStream, freePort, publish } from '../../../test/live-publisher.ts';
import { eventually } from '../../../test/service.ts';
import { playing, startPlayerPages } from './player.fixture.ts';

const port = await freePort();
const { options, pages } = await startPlayerPages({ REELFEED_RTMP_PORT: String(port) });

test('a live stream plays at its latest moment until it ends', options, async (context) => {
  const { service } = pages;
  const stream = await createStream(service, { title: 'Open day' });
  await using publishing = await publish(port, stream.streamKey, 1);
  await eventually('the stream in the feed', async () => {
    const { body } = await service.call('GET', '/v1/feed');
    return body.data.length === 1 ? true : null;
  });
  const { page, errors } = await pages.visit(context);
  assert.equal(await playing(page), `slide-${stream.contentId}`);
  const slide = page.locator('.slide:not([inert])');
  await slide.locator('.live').waitFor();
  const moment = () =>
    slide.locator('video').evaluate((video) => (video as HTMLVideoElement).currentTime);
  const first = await moment();
  await eventually('the picture to go on', async () =>
    (await moment()) > first + 1 ? true : null,
  );
  await publishing.end();
  await slide.getByText('The broadcast has ended').waitFor();
  assert.deepEqual(errors, []);
});
