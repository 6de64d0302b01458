/**
 * Does a 1 GB upload that is interrupted twenty times resume at the right byte, and how much memory
 * does it take?
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { once } from 'node:events';
import { request } from 'node:http';
import path from 'node:path';
import { generateClip } from '../server/src/features/media/media.ts';
import { report } from './lib/report.ts';
import { startBenchService } from './lib/service.ts';

const totalBytes = 1_000_000_000;
const cuts = 20;
const chunkBytes = 1_000_000;

await using service = await startBenchService({ REELFEED_ROLES: 'api' });
const file = path.join(service.dataDir, 'bench-clip.mp4');
const picture = { source: 'testsrc2', width: 360, height: 640, seconds: 2, frameRate: 30 } as const;
await generateClip({ ...picture, path: file, tone: 440 }, AbortSignal.timeout(120_000));
const clip = await readFile(file);

/** A clip followed by MP4's `free` box, generated on demand. */
function bytesAt(offset: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  const box = Buffer.alloc(8);
  box.writeUInt32BE(totalBytes - clip.length);
  box.write('free', 4, 'latin1');
  for (let index = 0; index < length; index += 1) {
    const at = offset + index;
    if (at < clip.length) bytes[index] = clip[at] ?? 0;
    else if (at < clip.length + 8) bytes[index] = box[at - clip.length] ?? 0;
    else bytes[index] = (at * 2_654_435_761) >>> 24;
  }
  return bytes;
}

async function memoryBytes(): Promise<number> {
  const status = await readFile(`/proc/${service.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1024;
}

const headers = {
  authorization: `Bearer ${service.secretKey}`,
  'content-type': 'application/json',
};
const opened = await fetch(`${service.url}/v1/content/upload`, {
  method: 'POST',
  headers,
  body: JSON.stringify({ title: 'Large' }),
});
const { data } = (await opened.json()) as { data: { id: string; uploadUrl: string } };
const url = service.url + new URL(data.uploadUrl).pathname;
const tus = { 'tus-resumable': '1.0.0' };
await fetch(url, { method: 'POST', headers: { ...tus, 'upload-length': String(totalBytes) } });

async function offset(): Promise<number> {
  const answer = await fetch(url, { method: 'HEAD', headers: tus });
  return Number(answer.headers.get('upload-offset'));
}

/**
 * Sends from `from` on and cuts the connection at `until`.
 *
 * @returns the status, or 0 after a cut
 */
async function send(from: number, until: number): Promise<number> {
  const patch = request(url, {
    method: 'PATCH',
    headers: {
      ...tus,
      'upload-offset': from,
      'content-type': 'application/offset+octet-stream',
      'content-length': totalBytes - from,
    },
  });
  const answered = new Promise<number>((resolve) => {
    patch.on('response', (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    });
    patch.on('error', () => resolve(0));
  });
  for (let at = from; at < until; at += chunkBytes) {
    const wanted = Math.min(chunkBytes, until - at);
    if (!patch.write(bytesAt(at, wanted))) await Promise.race([once(patch, 'drain'), answered]);
    highest = Math.max(highest, await memoryBytes());
  }
  if (until < totalBytes) setTimeout(() => patch.destroy(), 100);
  else patch.end();
  return answered;
}

const before = await memoryBytes();
let highest = before;
let resumed = 0;
let wrong = 0;
const startedAt = performance.now();
for (let cut = 1; cut <= cuts; cut += 1) {
  const from = await offset();
  const until = Math.floor((totalBytes * cut) / (cuts + 1));
  await send(from, until);
  let now = from;
  // The part is stored once the service has noticed the cut.
  for (let look = 0; look < 600 && now === from; look += 1) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    now = await offset();
  }
  if (now > from && now <= until) resumed += 1;
  else wrong += 1;
}
const status = await send(await offset(), totalBytes);
const seconds = (performance.now() - startedAt) / 1_000;
highest = Math.max(highest, await memoryBytes());

const expected = createHash('sha256');
for (let at = 0; at < totalBytes; at += chunkBytes) expected.update(bytesAt(at, chunkBytes));
const row = await service.database.db
  .selectFrom('content')
  .select('source_key')
  .where('content_id', '=', data.id)
  .executeTakeFirstOrThrow();
const { createReadStream } = await import('node:fs');
const stored = createHash('sha256');
for await (const chunk of createReadStream(
  path.join(service.dataDir, 'media', 'objects', row.source_key ?? ''),
)) {
  stored.update(chunk as Buffer);
}
const isSame = stored.digest('hex') === expected.digest('hex');
const grownMegabytes = (highest - before) / 1e6;
report([
  {
    what: 'cuts after which it resumed at the right byte',
    figure: `${resumed} of ${cuts}`,
    limit: `${cuts}`,
    kept: resumed === cuts && wrong === 0,
  },
  { what: 'response to the last part', figure: String(status), limit: '204', kept: status === 204 },
  { what: 'stored bytes equal the sent bytes', figure: String(isSame), kept: isSame },
  {
    what: 'maximum memory above the starting point',
    figure: `${grownMegabytes.toFixed(0)} MB`,
    limit: '50 MB',
    kept: grownMegabytes <= 50,
  },
  { what: 'seconds', figure: seconds.toFixed(0) },
]);
