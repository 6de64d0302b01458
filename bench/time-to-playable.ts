/** How long after its upload does a 15 s clip of 1080×1920 play, and when are all renditions there? */
import { openAsBlob } from 'node:fs';
import path from 'node:path';
import { generateClip } from '../server/src/features/media/media.ts';
import { median, report } from './lib/report.ts';
import { startBenchService } from './lib/service.ts';

const clipSeconds = 15;
const rounds = 3;
await using service = await startBenchService();
const file = path.join(service.dataDir, 'bench-clip.mp4');
const picture = {
  source: 'testsrc2',
  width: 1080,
  height: 1920,
  seconds: clipSeconds,
  frameRate: 30,
} as const;
await generateClip({ ...picture, path: file, tone: 440 }, AbortSignal.timeout(120_000));

const playable: number[] = [];
const complete: number[] = [];
for (let round = 0; round < rounds; round += 1) {
  const form = new FormData();
  form.set('title', `Round ${round}`);
  form.set('file', await openAsBlob(file), 'clip.mp4');
  const headers = { authorization: `Bearer ${service.secretKey}` };
  const startedAt = performance.now();
  const answer = await fetch(`${service.url}/v1/content/upload`, {
    method: 'POST',
    headers,
    body: form,
  });
  const { data } = (await answer.json()) as { data: { id: string } };
  const streamingUrl = await poll(async () => {
    const one = await fetch(`${service.url}/v1/content/${data.id}`, { headers });
    const { data: item } = (await one.json()) as {
      data: { streamingUrl: string | null; errorReason: unknown };
    };
    if (item.errorReason !== null) throw new Error(JSON.stringify(item.errorReason));
    return item.streamingUrl;
  });
  playable.push((performance.now() - startedAt) / 1_000);
  const local = `${service.url}${new URL(streamingUrl).pathname}`;
  await poll(async () => {
    const master = await (await fetch(local)).text();
    return master.includes('360/index.m3u8') ? master : null;
  });
  complete.push((performance.now() - startedAt) / 1_000);
}

async function poll<T>(probe: () => Promise<T | null>): Promise<T> {
  for (;;) {
    const found = await probe();
    if (found !== null) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const ratio = median(playable) / clipSeconds;
report([
  { what: 'upload to playable', figure: `${median(playable).toFixed(1)} s` },
  { what: 'as a ratio to the clip', figure: ratio.toFixed(2), limit: '≤ 1.00', kept: ratio <= 1 },
  { what: 'upload to all four renditions', figure: `${median(complete).toFixed(1)} s` },
  { what: 'as a ratio to the clip', figure: (median(complete) / clipSeconds).toFixed(2) },
]);
