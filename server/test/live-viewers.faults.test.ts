/**
 * Proves that requests to the storage and database do not grow with the number of viewers, and
 * prints the cost of a viewer to the serving process.
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { Agent, get as httpGet } from 'node:http';
import { test, type TestContext } from 'node:test';
import { buffer } from 'node:stream/consumers';
import { Client } from 'pg';
import { readPlaylist } from './live/hls-rules.ts';
import { generateKey } from '../src/features/keys/key-format.ts';
import { atEnd, cloneDatabase } from './database.ts';
import { createStream, freePort, publish, type Stream } from './live-publisher.ts';
import { startProcess } from './processes.ts';
import { s3Settings, startS3 } from './s3-server.ts';
import { eventually, send, temporaryFolder, toUrl, type Call } from './service.ts';
import { pause } from './waiting.ts';

const connection = await cloneDatabase();
const s3 = await startS3();
const secretKey = generateKey('secret');
const port = await freePort();
const shared = { ...s3Settings(s3), REELFEED_SECRET_KEY: secretKey };
const dataDir = await temporaryFolder();
const viewing = await startProcess(connection, dataDir, { ...shared, REELFEED_ROLES: 'api' });
await startProcess(connection, dataDir, {
  ...shared,
  REELFEED_ROLES: 'worker',
  REELFEED_RTMP_PORT: String(port),
});
const service = {
  call: (method: string, path: string, call: Call = {}) =>
    send(`${viewing.url}${path}`, method, { key: secretKey, ...call }),
};
const database = new Client({ connectionString: toUrl(connection) });
await database.connect();
atEnd(() => database.end());

const agent = new Agent({ keepAlive: true, maxSockets: Infinity });
atEnd(async () => agent.destroy());

function get(url: URL): Promise<{ status: number; body: Buffer }> {
  return new Promise((resolve, reject) => {
    httpGet(url, { agent }, (answer) => {
      buffer(answer).then((body) => resolve({ status: answer.statusCode ?? 0, body }), reject);
    }).on('error', reject);
  });
}

async function text(url: URL): Promise<string> {
  const { status, body } = await get(url);
  assert.equal(status, 200, `${url.href} ${body.toString()}`);
  return body.toString();
}

type Watching = { requests: number };

/** Minimal parsing, because the viewers share the machine with the service. */
function skim(playlist: string): { openSegment: number; openParts: number; parts: string[] } {
  const first = Number(/#EXT-X-MEDIA-SEQUENCE:(\d+)/.exec(playlist)?.[1]);
  const open = playlist.slice(playlist.lastIndexOf('#EXTINF'));
  const partsOf = (text: string) => text.match(/part-[\w-]+\.m4s(?="(?:,IND|\n#|\n$))/g) ?? [];
  return {
    openSegment: first + playlist.split('#EXTINF').length - 1,
    openParts: open.split('#EXT-X-PART:').length - 1,
    parts: partsOf(playlist.slice(0, playlist.indexOf('#EXT-X-PRELOAD-HINT'))),
  };
}

/**
 * Plays like hls.js with low latency: each reload waits for the next part, which is then fetched.
 */
async function watchLow(url: URL, counted: Watching, signal: AbortSignal): Promise<void> {
  let now = skim(await text(url));
  while (!signal.aborted) {
    const next = new URL(`?_HLS_msn=${now.openSegment}&_HLS_part=${now.openParts}`, url);
    const known = new Set(now.parts);
    now = skim(await text(next));
    counted.requests += 1;
    for (const uri of now.parts.filter((part) => !known.has(part))) {
      assert.equal((await get(new URL(uri, url))).status, 200);
      counted.requests += 1;
    }
  }
}

/** Plays without low latency: a reload every two seconds, and each segment. */
async function watchNormal(url: URL, counted: Watching, signal: AbortSignal): Promise<void> {
  const known = new Set<string>();
  while (!signal.aborted) {
    for (const { uri } of readPlaylist(await text(url)).segments.slice(-3)) {
      if (known.has(uri)) continue;
      known.add(uri);
      assert.equal((await get(new URL(uri, url))).status, 200);
      counted.requests += 1;
    }
    counted.requests += 1;
    await pause(2_000, 'the next segment');
  }
}

/** CPU time of the serving process in milliseconds. Linux only. */
async function cpuMs(): Promise<number> {
  const stat = await readFile(`/proc/${viewing.pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Scans, by any process, of the tables from which a broadcast is served. */
async function scans(): Promise<number> {
  const { rows } = await database.query<{ count: string }>(
    `select sum(coalesce(idx_scan, 0) + coalesce(seq_scan, 0)) as count from pg_stat_user_tables
     where relname like 'live\\_%' or relname = 'content'`,
  );
  return Number(rows[0]?.count);
}

const reads = () => s3.operations.filter((name) => name === 'GetObject').length;
const measuredMs = 15_000;

async function measure(context: TestContext, url: URL, viewers: number, watch: typeof watchLow) {
  const stopping = new AbortController();
  const counted = { requests: 0 };
  const watching = Array.from({ length: viewers }, () => watch(url, counted, stopping.signal));
  await pause(8_000, 'all viewers to play');
  const before = { cpu: await cpuMs(), database: await scans(), storage: reads() };
  const requestsBefore = counted.requests;
  const startedAt = performance.now();
  await pause(measuredMs, 'the measurement');
  const seconds = (performance.now() - startedAt) / 1_000;
  const requests = (counted.requests - requestsBefore) / seconds;
  const used = {
    cpu: (await cpuMs()) - before.cpu,
    database: ((await scans()) - before.database) / seconds,
    storage: (reads() - before.storage) / seconds,
  };
  stopping.abort();
  await Promise.all(watching);
  const each = used.cpu / seconds / viewers;
  context.diagnostic(
    `${viewers} viewers: ${requests.toFixed(0)} requests/s, ` +
      `${each.toFixed(2)} ms of CPU per viewer and second, ` +
      `${used.database.toFixed(1)} scans of tables/s, ${used.storage.toFixed(1)} storage reads/s`,
  );
  return used;
}

async function mediaUrl({ contentId }: Stream): Promise<URL> {
  const url = await eventually('the address', async () => {
    const { body } = await service.call('GET', `/v1/content/${contentId}`);
    return body.data.streamingUrl;
  });
  return new URL(new URL('index.m3u8', url).pathname, viewing.url);
}

for (const [latency, watch] of [
  ['low', watchLow],
  ['normal', watchNormal],
] as const) {
  test(`200 viewers of a ${latency} stream cause no more storage and database requests than 10`, async (context) => {
    const stream = await createStream(service, { latency });
    await using _ = await publish(port, stream.streamKey, 1);
    const url = await mediaUrl(stream);
    await eventually('three segments', async () =>
      readPlaylist(await text(url)).segments.length >= 3 ? true : null,
    );
    const few = await measure(context, url, 10, watch);
    const many = await measure(context, url, 200, watch);
    // Periodic chores may fall into only one of the measurements.
    const mostScans = 1.3 * few.database + 5;
    assert.ok(many.database <= mostScans, `${few.database} and ${many.database} a second`);
    assert.ok(many.storage <= few.storage + 1, `${few.storage} and ${many.storage} a second`);
    await service.call('DELETE', `/v1/live-streams/${stream.id}`);
  });
}
