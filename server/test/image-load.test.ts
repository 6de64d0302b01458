/**
 * Proves that many concurrent images neither overload the machine nor delay another organization.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { test } from 'node:test';
import { createCarousel, imageBytes } from './carousels.ts';
import { form } from './media.ts';
import { countMediaChildren } from './process-tree.ts';
import { createOrganization } from './seed.ts';
import { eventually, send, startService } from './service.ts';

const service = await startService({ REELFEED_MEDIA_CONCURRENCY: '1' });
const other = await createOrganization(service, 'Another');
const large = await imageBytes({ width: 9_000, height: 5_000 });
const small = await imageBytes();

const addImage = (carousel: string, bytes: Buffer, key = service.secretKey) =>
  service.call('POST', `/v1/content/${carousel}/images`, { key, body: form([['file', bytes]]) });

async function decodes(): Promise<{ running: number; waiting: number }> {
  const { text } = await service.call('GET', '/metrics');
  const value = (state: string) =>
    Number(new RegExp(`^image_decodes\\{state="${state}"\\} (\\d+)`, 'm').exec(text)?.[1]);
  return { running: value('running'), waiting: value('waiting') };
}

/** Metrics are collected at most once per second. */
const nobodyLeft = () =>
  eventually('nobody to be waited for', async () => {
    const { running, waiting } = await decodes();
    return running + waiting === 0 ? true : null;
  });

test('large images are decoded one at a time, with another organization’s in between', async (t) => {
  const carousel = await createCarousel(service, 'carousel');
  const made = await send(`${service.url}/v1/content`, 'POST', {
    key: other.secretKey,
    body: { contentType: 'carousel', title: 'Of another organization' },
  });
  let mostProcesses = 0;
  const count = async () => {
    mostProcesses = Math.max(mostProcesses, await countMediaChildren(process.pid));
  };
  const counting = setInterval(() => void count(), 20);
  t.after(() => clearInterval(counting));
  let finished = 0;
  const images = Array.from({ length: 10 }, async () => {
    const reply = await addImage(carousel.id, large);
    finished += 1;
    return reply.status;
  });
  await eventually('the line to form', async () => ((await decodes()).waiting > 3 ? true : null));
  const finishedBefore = finished;
  const reply = await addImage(made.body.data.id, small, other.secretKey);
  assert.equal(reply.status, 201, reply.text);
  // The one being decoded, plus one more.
  assert.ok(finished - finishedBefore <= 2, `after ${finished - finishedBefore} others`);
  assert.deepEqual(
    await Promise.all(images),
    Array.from({ length: 10 }, () => 201),
  );
  assert.equal(mostProcesses, 1);
  await nobodyLeft();
});

test('a client that goes away leaves the queue, or ends the decoding', async () => {
  const carousel = await createCarousel(service, 'carousel');
  const requests = await Promise.all(
    Array.from({ length: 10 }, async () => {
      const body = new Response(form([['file', large]]));
      const sending = request(`${service.url}/v1/content/${carousel.id}/images`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${service.secretKey}`,
          'content-type': body.headers.get('content-type') ?? '',
        },
      });
      sending.on('error', () => undefined);
      sending.end(Buffer.from(await body.arrayBuffer()));
      await once(sending, 'finish');
      return sending;
    }),
  );
  await eventually('the line to form', async () => ((await decodes()).waiting >= 5 ? true : null));
  for (const sending of requests) sending.destroy();
  await nobodyLeft();
  assert.equal(await countMediaChildren(process.pid), 0);
  const { body } = await service.call('GET', `/v1/content/${carousel.id}`);
  // Metrics are up to a second old, so more may have been decoded in the meantime.
  const { length } = body.data.images;
  assert.ok(length < 8, `${length} of 10 images were decoded`);
});
