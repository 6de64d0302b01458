/** Plays finished renditions to their end in a real browser. */
import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join, normalize } from 'node:path';
import type { Browser } from 'playwright-core';

const PAGE = `<!doctype html><video id="video" muted playsinline></video>
<script src="/hls.js"></script><script>
const video = document.getElementById('video');
const hls = new Hls();
window.result = new Promise((resolve) => {
  video.onended = () => resolve({ ended: video.currentTime, duration: video.duration });
  hls.on(Hls.Events.ERROR, (event, data) => { if (data.fatal) resolve({ error: data.details }); });
  hls.on(Hls.Events.MANIFEST_PARSED, () => { video.playbackRate = 2; video.play(); });
});
hls.loadSource('/media/master.m3u8');
hls.attachMedia(video);
</script>`;

const TYPES: Readonly<Record<string, string>> = {
  m3u8: 'application/vnd.apple.mpegurl',
  mp4: 'video/mp4',
  m4s: 'video/iso.segment',
};

/** Plays the master playlist in a folder. Returns the problem, or null. */
export async function playFolder(
  browser: Browser,
  folder: string,
  seconds: number,
): Promise<string | null> {
  const library = createRequire(import.meta.url).resolve('hls.js/dist/hls.min.js');
  const server = createServer((request, response) => {
    const path = normalize(decodeURIComponent(request.url ?? '/'));
    if (path === '/') return response.setHeader('content-type', 'text/html').end(PAGE);
    const file = path === '/hls.js' ? library : join(folder, path.replace(/^\/media\//, ''));
    readFile(file).then(
      (bytes) => {
        const type = TYPES[path.slice(path.lastIndexOf('.') + 1)] ?? 'text/javascript';
        response.setHeader('content-type', type).end(bytes);
      },
      () => response.writeHead(404).end(),
    );
    return response;
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  const page = await browser.newPage();
  try {
    await page.goto(`http://127.0.0.1:${port}/`);
    const timeoutMs = 60_000 + seconds * 2_000;
    const result = await page.waitForFunction('window.result', null, { timeout: timeoutMs });
    const { duration, ended, error } = (await result.jsonValue()) as {
      ended?: number;
      duration?: number;
      error?: string;
    };
    if (error !== undefined) return `the browser says ${error}`;
    const isWhole =
      Math.abs((ended ?? 0) - seconds) < 0.5 && Math.abs((duration ?? 0) - seconds) < 0.5;
    return isWhole ? null : `the browser ended at ${ended} of ${duration}, not ${seconds}`;
  } catch (error) {
    return `the browser stopped: ${String(error).split('\n')[0]}`;
  } finally {
    await page.close();
    server.close();
    server.closeAllConnections();
  }
}
