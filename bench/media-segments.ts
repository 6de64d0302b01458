/**
 * How fast does the service deliver segments? Reported as a ratio to a plain `node:http` file
 * server and, if installed, to nginx, on the same files.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import autocannon from 'autocannon';
import { generateClip } from '../server/src/features/media/sample-clips.ts';
import { median, report } from './lib/report.ts';
import { freePort, startBenchService } from './lib/service.ts';
import { isComplete, settled, uploadClip } from './lib/upload-clip.ts';

const connections = 32;
const seconds = 4;
const rounds = 3;
const leastRatio = 0.5;

await using service = await startBenchService();
const clip = path.join(service.dataDir, 'bench-clip.mp4');
const picture = {
  source: 'testsrc2',
  width: 720,
  height: 1280,
  seconds: 12,
  frameRate: 30,
} as const;
await generateClip({ ...picture, path: clip, tone: 440 }, AbortSignal.timeout(120_000));
const { streamingUrl } = await settled(
  service,
  await uploadClip(service, clip, 'Segments'),
  isComplete,
);
const prefix = path.dirname(new URL(streamingUrl ?? '').pathname);
const objects = path.join(service.dataDir, 'media/objects');
const names = (await readdir(path.join(objects, prefix, '720'))).filter((name) =>
  name.endsWith('.m4s'),
);
const paths = names.map((name) => `${prefix}/720/${name}`);

await using stack = new AsyncDisposableStack();
const { url: plainUrl, pid: plainPid } = await startPlainServer();
const nginxUrl = await startNginx();

const rates = { service: [] as number[], plain: [] as number[], nginx: [] as number[] };
const costs = { service: [] as number[], plain: [] as number[] };
for (let round = 0; round < rounds; round += 1) {
  const plain = await measure(plainUrl, plainPid);
  const own = await measure(service.url, service.pid);
  rates.plain.push(plain.rate);
  costs.plain.push(plain.cost);
  rates.service.push(own.rate);
  costs.service.push(own.cost);
  if (nginxUrl !== null) rates.nginx.push(await bytesPerSecond(nginxUrl));
}

/** Bytes per second, and CPU seconds of the process per gigabyte. */
async function measure(url: string, pid: number): Promise<{ rate: number; cost: number }> {
  const before = await cpuSeconds(pid);
  const rate = await bytesPerSecond(url);
  return { rate, cost: ((await cpuSeconds(pid)) - before) / ((rate * seconds) / 1e9) };
}

/** CPU time of a process so far, in user mode and in the kernel. */
async function cpuSeconds(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

async function bytesPerSecond(url: string): Promise<number> {
  const requests = paths.map((one) => ({ path: one }));
  const result = await autocannon({ url, connections, duration: seconds, requests });
  if (result.non2xx + result.errors > 0) throw new Error(`${url} failed ${result.non2xx} times`);
  return result.throughput.average;
}

async function startPlainServer(): Promise<{ url: string; pid: number }> {
  const port = await freePort();
  const script = fileURLToPath(new URL('lib/plain-file-server.ts', import.meta.url));
  const child = spawn(process.execPath, [script, String(port), objects], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  stack.defer(() => void child.kill());
  await once(child.stdout, 'data');
  return { url: `http://127.0.0.1:${port}`, pid: child.pid ?? 0 };
}

/** One worker with `sendfile` and its own configuration; null if nginx is not installed. */
async function startNginx(): Promise<string | null> {
  const port = await freePort();
  const folder = await mkdtemp(path.join(os.tmpdir(), 'reelfeed-nginx-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `${kind}_temp_path ${folder}/${kind};`)
    .join(' ');
  const configuration = `daemon off; worker_processes 1; pid ${folder}/pid; error_log stderr;
    ${process.getuid?.() === 0 ? 'user root;' : ''}
    events { worker_connections 256; }
    http { access_log off; sendfile on; ${temporary}
      server { listen 127.0.0.1:${port}; root ${objects}; } }`;
  const file = path.join(folder, 'nginx.conf');
  await writeFile(file, configuration);
  const child = spawn('nginx', ['-c', file, '-p', folder], { stdio: 'ignore' });
  const isRunning = await Promise.race([
    once(child, 'error').then(() => false),
    once(child, 'exit').then(() => false),
    new Promise<boolean>((resolve) => setTimeout(() => resolve(true), 1_000)),
  ]);
  if (!isRunning) return null;
  stack.defer(() => void child.kill());
  return `http://127.0.0.1:${port}`;
}

const megabytes = (values: readonly number[]): string =>
  `${(median(values) / 1e6).toFixed(0)} MB/s`;
const perGigabyte = (values: readonly number[]): string => `${median(values).toFixed(2)} CPU-s/GB`;
const ratio = median(rates.service) / median(rates.plain);
report([
  { what: 'segments from the service', figure: megabytes(rates.service) },
  { what: 'from a plain node:http file server', figure: megabytes(rates.plain) },
  {
    what: 'as a ratio',
    figure: ratio.toFixed(2),
    limit: `≥ ${leastRatio}`,
    kept: ratio >= leastRatio,
  },
  { what: 'cost of the service', figure: perGigabyte(costs.service) },
  { what: 'cost of the plain server', figure: perGigabyte(costs.plain) },
  ...(rates.nginx.length === 0
    ? [{ what: 'from nginx', figure: 'not installed' }]
    : [
        { what: 'from nginx, one worker', figure: megabytes(rates.nginx) },
        {
          what: 'as a ratio to nginx',
          figure: (median(rates.service) / median(rates.nginx)).toFixed(2),
        },
      ]),
]);
