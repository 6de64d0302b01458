/**
 * Measures the latency of broadcasts by their pictures: the position of a moving bar encodes the
 * sending time. This is the latency of the service and the player; camera and encoder add to it.
 */
import { strict as assert } from 'node:assert';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import sharp from 'sharp';
import { createStream, freePort } from '../../../test/live-publisher.ts';
import { eventually, temporaryFolder } from '../../../test/service.ts';
import { pause } from '../../../test/waiting.ts';
import { readFlvFile, RtmpPublisher, splitClip, type FlvTag } from '../live/live.ts';
import { generateClip } from '../media/media.ts';
import { playing, startPlayerPages } from '../../../test/player/player.ts';

const port = await freePort();
const { options, pages } = await startPlayerPages({ REELFEED_RTMP_PORT: String(port) });

const size = { width: 320, height: 180 };
const barPixels = 40;
const pixelsPerSecond = 20;
const periodMs = (size.width / pixelsPerSecond) * 1_000;
/** Limits for a busy machine; a quiet one stays below the targets of 4 and 8 seconds. */
const limitsMs = { low: 6_000, normal: 11_000 };

/** A bar that crosses the picture once in 16 seconds, and a tone. */
async function movingBar(): Promise<FlvTag[]> {
  const folder = await temporaryFolder();
  const black = { ...size, channels: 3 as const, background: '#000' };
  const bar = await sharp({ create: { ...black, width: barPixels, background: '#fff' } })
    .png()
    .toBuffer();
  const ground = path.join(folder, 'ground.png');
  const moving = path.join(folder, 'bar.png');
  await sharp({ create: black }).png().toFile(ground);
  await sharp({ create: { ...black, width: 2 * size.width } })
    .composite([
      { input: bar, left: 0, top: 0 },
      { input: bar, left: size.width, top: 0 },
    ])
    .png()
    .toFile(moving);
  const file = path.join(folder, 'clip.flv');
  const layers = [
    { file: ground, speedX: 0, speedY: 0 },
    { file: moving, speedX: pixelsPerSecond, speedY: 0 },
  ];
  const clip = { ...size, path: file, source: 'layers', layers, frameRate: 25, tone: 440 } as const;
  await generateClip({ ...clip, seconds: periodMs / 1_000 }, AbortSignal.timeout(120_000));
  return readFlvFile(await readFile(file));
}

/** Sends the clip in a loop in real time. Returns when it started. */
function send(publisher: RtmpPublisher, clip: readonly FlvTag[], signal: AbortSignal): number {
  const startedAt = Date.now();
  void (async () => {
    const { headers, media } = splitClip(clip);
    for (const { type, payload } of headers) await publisher.send(type, 0, payload);
    for (let round = 0; ; round += 1) {
      for (const { type, timestampMs, payload } of media) {
        const atMs = round * periodMs + timestampMs;
        const early = startedAt + atMs - Date.now();
        if (early > 0) await pause(early, 'the time of the picture');
        if (signal.aborted || !publisher.isOpen) return;
        await publisher.send(type, atMs >>> 0, payload);
      }
    }
  })().catch(() => undefined);
  return startedAt;
}

/** When the currently shown picture was sent, and the current time, in milliseconds. */
function look(page: Page): Promise<{ left: number; atMs: number } | null> {
  return page.evaluate(() => {
    const root = document.querySelector('reelfeed-feed')?.shadowRoot;
    const video = root?.querySelector('.slide:not([inert]) video') as HTMLVideoElement;
    const canvas = document.createElement('canvas');
    const [width, height] = [320, 1];
    canvas.width = width;
    canvas.height = height;
    const context = canvas.getContext('2d');
    if (context === null) return null;
    context.drawImage(video, 0, 0, width, height);
    const atMs = Date.now();
    const { data } = context.getImageData(0, 0, width, height);
    const isLit = (x: number) => (data[((x + width) % width) * 4] ?? 0) > 128;
    for (let x = 0; x < width; x += 1) if (isLit(x) && !isLit(x - 1)) return { left: x, atMs };
    return null;
  });
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

for (const latency of ['low', 'normal'] as const) {
  test(`the latency of a ${latency} stream, by its pictures`, options, async (context) => {
    const { service } = pages;
    const stream = await createStream(service, { title: `Bar ${latency}`, latency });
    const clip = await movingBar();
    const publisher = await RtmpPublisher.open(`rtmp://127.0.0.1:${port}/live`, stream.streamKey);
    const stopping = new AbortController();
    const startedAt = send(publisher, clip, stopping.signal);
    await eventually('the stream in the feed', async () => {
      const { body } = await service.call('GET', '/v1/feed');
      return body.data[0]?.id === stream.contentId ? true : null;
    });
    // A viewer in the first seconds is closer to the live edge, because nothing else is listed yet.
    await eventually('a while of it', async () => {
      const { body } = await service.call('GET', `/v1/live-streams/${stream.id}`);
      return body.data.recordedSeconds >= 14 ? true : null;
    });
    const { page } = await pages.visit(context);
    assert.equal(await playing(page), `slide-${stream.contentId}`);
    const measured: number[] = [];
    // The player takes a while to reach the live edge.
    const settledAt = Date.now() + 10_000;
    await eventually(
      'forty looks',
      async () => {
        const seen = await look(page);
        if (seen === null || seen.atMs < settledAt) return null;
        const sentMs = ((size.width - seen.left) / pixelsPerSecond) * 1_000;
        const lagMs = (seen.atMs - startedAt - sentMs) % periodMs;
        measured.push((lagMs + periodMs) % periodMs);
        return measured.length >= 40 ? true : null;
      },
      90_000,
    );
    stopping.abort();
    await publisher.end();
    await service.call('DELETE', `/v1/live-streams/${stream.id}`);
    const middle = Math.round(median(measured));
    const longest = Math.round(Math.max(...measured));
    context.diagnostic(`${latency}: ${middle} ms in the median, ${longest} ms at most`);
    assert.ok(middle <= limitsMs[latency], `${middle} ms`);
  });
}
