/** A live stream plays in a browser at the live edge, and continues as its recording. */
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { sampleEvent } from '../../../test/event-samples.ts';
import { createStream, freePort, publish } from '../../../test/live-publisher.ts';
import { eventually } from '../../../test/service.ts';
import { playing, startPlayerPages } from '../../../test/player/player.ts';

const port = await freePort();
const { options, pages } = await startPlayerPages({
  REELFEED_RTMP_PORT: String(port),
  REELFEED_LIVE_RENDITIONS: 'off',
});

test('a live stream plays at its live edge until it ends', options, async (context) => {
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

test(
  'who falls behind is led back, and the end becomes the recording',
  options,
  async (context) => {
    const { service } = pages;
    const stream = await createStream(service, { title: 'Long day' });
    await using publishing = await publish(port, stream.streamKey, 1);
    await eventually('the stream in the feed', async () => {
      const { body } = await service.call('GET', '/v1/feed');
      return body.data[0]?.id === stream.contentId ? true : null;
    });
    const viewer = { key: service.publishableKey };
    const watched = sampleEvent('playStart', stream.contentId, { userId: 'ada' });
    await service.call('POST', '/v1/events/batch', { ...viewer, body: { events: [watched] } });
    await eventually('a viewer', async () => {
      const { body } = await service.call('GET', `/v1/feed/items/${stream.contentId}`, viewer);
      return body.data.currentViewers > 0 ? true : null;
    });
    const { page, errors } = await pages.visit(context);
    assert.equal(await playing(page), `slide-${stream.contentId}`);
    await page.evaluate(() => Object.assign(window, { isSamePage: true }));
    const slide = page.locator('.slide:not([inert])');
    await slide.getByText(/\d watching/).waitFor();
    const video = slide.locator('video');
    const isPaused = () => video.evaluate((one) => (one as HTMLVideoElement).paused);
    const moment = () => video.evaluate((one) => (one as HTMLVideoElement).currentTime);

    const live = slide.locator('button.live');
    assert.equal(await live.isEnabled(), false);
    await slide.locator('.surface').click();
    await eventually('the pause', async () => ((await isPaused()) ? true : null));
    const left = await moment();
    await slide.locator('button.live.behind').waitFor();
    await live.click();
    await eventually('the latest moment', async () => {
      const isThere = (await moment()) > left + 3 && !(await isPaused());
      return isThere && !(await live.isEnabled()) ? true : null;
    });

    await publishing.end();
    await slide.getByText('The broadcast has ended').waitFor();
    await eventually('the recording', async () => {
      const isRecording = (await slide.locator('.live').count()) === 0;
      return isRecording && !(await isPaused()) && (await moment()) > 0.5 ? true : null;
    });
    assert.equal(await slide.locator('.seek').isVisible(), true);
    assert.equal(await page.evaluate(() => 'isSamePage' in window), true);
    // The browser logs every response other than 2xx; the item returns 404 until it is processed.
    assert.deepEqual(
      errors.filter((line) => !line.includes('404')),
      [],
    );
  },
);

test(
  'the link of a stream waits for its beginning, and its time is shown',
  options,
  async (context) => {
    const { service } = pages;
    const evening = new Date(Date.now() + 30 * 86_400_000);
    evening.setHours(18, 0, 0, 0);
    const fields = { title: 'Concert', publishAt: evening.toISOString() };
    const stream = await createStream(service, fields);
    const link = `${pages.withKey}#${stream.contentId}`;
    const { page, errors } = await pages.visit(context, link, { locale: 'de-DE' });
    await page.evaluate(() => Object.assign(window, { isSamePage: true }));
    const slide = page.locator(`#slide-${stream.contentId}`);
    await slide.getByText(/^Starts at .*18:00$/).waitFor();
    // Before its time, even an ongoing broadcast is not shown.
    await using publishing = await publish(port, stream.streamKey, 1);
    const viewer = { key: service.publishableKey };
    const item = `/v1/feed/items/${stream.contentId}`;
    await eventually('the broadcast', async () => {
      const { body } = await service.call('GET', item);
      return body.data.isLive && body.data.streamingUrl !== null ? true : null;
    });
    await eventually('what viewers are told', async () => {
      const { body } = await service.call('GET', item, viewer);
      const { isLive, liveStreamStatus, streamingUrl, thumbnailUrl, uploadStatus } = body.data;
      assert.deepEqual([isLive, liveStreamStatus], [false, 'idle']);
      return streamingUrl === null && thumbnailUrl === null && uploadStatus === 'pending'
        ? true
        : null;
    });
    assert.equal(await slide.locator('video').count(), 0);
    const now = { body: { publishAt: null } };
    assert.equal((await service.call('PATCH', `/v1/content/${stream.contentId}`, now)).status, 200);
    await slide.locator('.live').waitFor();
    const video = slide.locator('video');
    const moment = () => video.evaluate((one) => (one as HTMLVideoElement).currentTime);
    await eventually('the picture', async () => ((await moment()) > 1 ? true : null));
    assert.equal(await slide.getByText('Starts').count(), 0);
    assert.equal(await page.evaluate(() => 'isSamePage' in window), true);
    await publishing.end();
    assert.deepEqual(errors, []);
  },
);

test(
  'an announced stream begins when its encoder comes, and goes when it is ended',
  options,
  async (context) => {
    const { service } = pages;
    const [begun, ended] = [await createStream(service), await createStream(service)];
    const first = await pages.visit(context, `${pages.withKey}#${begun.contentId}`);
    const slide = first.page.locator(`#slide-${begun.contentId}`);
    await slide.getByText('Starts soon').waitFor();
    await using publishing = await publish(port, begun.streamKey, 1);
    await slide.locator('.live').waitFor();
    const video = slide.locator('video');
    const moment = () => video.evaluate((one) => (one as HTMLVideoElement).currentTime);
    await eventually('the picture', async () => ((await moment()) > 1 ? true : null));
    await publishing.end();
    assert.deepEqual(first.errors, []);

    const { page } = await pages.visit(context, `${pages.withKey}#${ended.contentId}`);
    const announced = page.locator(`#slide-${ended.contentId}`);
    await announced.getByText('Starts soon').waitFor();
    await service.call('POST', `/v1/live-streams/${ended.id}/end`);
    await announced.waitFor({ state: 'detached' });
  },
);

test('a broadcast that the browser cannot play stops no feed', options, async (context) => {
  const { service } = pages;
  const clip = await pages.upload('portrait.mp4', 'A clip');
  await pages.ready(clip);
  const stream = await createStream(service, { title: 'In HEVC', reconnectWindow: 60 });
  await using _ = await publish(port, stream.streamKey, 1, 'hevc');
  await eventually('the stream at the head of the feed', async () => {
    const { body } = await service.call('GET', '/v1/feed');
    return body.data[0]?.id === stream.contentId ? true : null;
  });
  const { page } = await pages.visit(context);
  const canPlay = await page.evaluate(() =>
    MediaSource.isTypeSupported('video/mp4; codecs="hvc1.1.6.L60.90"'),
  );
  if (canPlay) return context.skip('this browser plays HEVC');
  await page.locator('.slide:not([inert])').getByText('This video can’t be played.').waitFor();
  assert.notEqual(await playing(page), `slide-${stream.contentId}`);
});
