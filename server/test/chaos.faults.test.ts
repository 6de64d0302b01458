/**
 * Proves that two processes with one database survive everything at once, repeatedly: the database
 * is killed, frozen, locked and disconnected while dashboards, viewers, players, uploads, a
 * broadcast, bulk jobs, exports, webhooks and experiments are active. No process ends, every
 * request gets an envelope in time, and nothing acknowledged is lost.
 *
 * One hour in the full run (`npm run test:faults`), otherwise a few minutes. REELFEED_TEST_SEED
 * repeats an order of faults.
 */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { generateKey } from '../src/features/keys/key-format.ts';
import { clients, newJournal } from './chaos/clients.ts';
import { startFaultyDatabase, type Fault } from './chaos/faulty-database.ts';
import { countKept, type Kept } from './chaos/promises.ts';
import { Requests } from './chaos/requests.ts';
import { createStream, freePort } from './live-publisher.ts';
import { sampleBytes } from './media.ts';
import { seededRandom } from './process-tree.ts';
import { ready, startMain, type RunningProcess } from './processes.ts';
import { authority, startReceiver } from './receiver.ts';
import { scaled } from './scale.ts';
import { eventually, send, temporaryFolder, toUrl, type TestService } from './service.ts';
import { pause } from './waiting.ts';
import { askOf } from './world/ask.ts';

const options = {
  skip: existsSync('/proc/self/stat') ? false : 'reads /proc, which this system does not have',
};
const runMs = scaled(150_000, 3_600_000);
/** Maximum time from the end of a fault until every process is ready. */
const recoveryMs = 60_000;

/** Maximum number of violations shown. */
const maxShown = 30;

type Struck = { name: string; times: number; slowestRecoveryMs: number };

test('everything at once while the database fails in every way', options, async (t) => {
  const seed = Number(process.env['REELFEED_TEST_SEED'] ?? randomInt(2 ** 31));
  t.diagnostic(`REELFEED_TEST_SEED=${seed}`);
  const database = await startFaultyDatabase();
  const receiver = await startReceiver(() => 204);
  const secretKey = generateKey('secret');
  const rtmpPort = await freePort();
  const dataDir = await temporaryFolder();
  const caFile = path.join(dataDir, 'authority.pem');
  await writeFile(caFile, authority.cert);
  const start = async (rtmp: number): Promise<[RunningProcess, string]> => {
    const env = {
      PORT: '0',
      DATABASE_URL: toUrl(database.connection),
      REELFEED_DATA_DIR: dataDir,
      REELFEED_SECRET_KEY: secretKey,
      REELFEED_MIN_FREE_BYTES: '0',
      REELFEED_LOG_LEVEL: 'error',
      REELFEED_RTMP_PORT: String(rtmp),
      REELFEED_EGRESS_ALLOW: receiver.allow,
      REELFEED_WEBHOOK_RETRY_SCHEDULE: '0s,1s,5s,20s,60s',
      NODE_EXTRA_CA_CERTS: caFile,
    };
    const running = startMain({ env });
    return [running, await ready(running)];
  };
  const [one, oneUrl] = await start(rtmpPort);
  const [two, twoUrl] = await start(0);
  const urls = [oneUrl, twoUrl];
  const processes = [one, two];
  const call: TestService['call'] = (method, target, given) =>
    send(oneUrl + target, method, { key: secretKey, ...given });
  const ask = askOf({ call, secretKey });

  await ask('POST', '/v1/webhooks', { url: receiver.url, events: ['*'] });
  const contentIds: string[] = [];
  for (let n = 0; n < 30; n += 1) {
    const fields = { title: `Item ${n}`, tags: ['bulk', `tag-${n % 5}`] };
    contentIds.push((await ask('POST', '/v1/content/upload', fields)).id);
  }
  const stream = await createStream({ call }, { reconnectWindow: 1_800 });
  const requests = new Requests(urls, secretKey);
  const journal = newJournal();
  const stopping = new AbortController();
  const clip = await sampleBytes('small.mp4');
  const parts = {
    requests,
    journal,
    contentIds,
    clip,
    live: { rtmpPort, streamKey: stream.streamKey },
  };
  const working = clients.map((client) => client({ ...parts, signal: stopping.signal }));

  const scene = { urls, processes, requests, random: seededRandom(seed) };
  let struck: Struck[];
  try {
    struck = await strikeAgainAndAgain(database.faults, scene);
  } finally {
    requests.during = 'calm at the end';
    stopping.abort();
    await Promise.all(working);
  }
  const alive = processes.map(({ child }) => child.exitCode === null && child.signalCode === null);
  const kept = alive.every(Boolean)
    ? await countKept(ask, journal, { receiver, direct: database.direct, stream })
    : [];
  report(requests, struck, kept);
  for (const [index, { output }] of processes.entries()) {
    assert.ok(alive[index], `a process has ended: ${output.stderr.slice(-3_000)}`);
  }
  assert.equal(requests.violations.length, 0, 'wrong answers, which stand above');
  for (const { what, promised, kept: found } of kept) {
    // A recording may lose less than a second at a disconnection of the encoder.
    const isKept = what.startsWith('seconds') ? promised - found <= 1 : found === promised;
    assert.ok(isKept, `${what}: ${found} of ${promised}`);
  }
});

type Scene = {
  urls: readonly string[];
  processes: readonly RunningProcess[];
  requests: Requests;
  random: () => number;
};

/** Applies each fault in turn, in a different order each round. */
async function strikeAgainAndAgain(faults: readonly Fault[], scene: Scene): Promise<Struck[]> {
  const { processes, requests, random } = scene;
  const struck = new Map<string, Struck>();
  const end = performance.now() + runMs;
  const isOver = () =>
    performance.now() > end || processes.some(({ child }) => child.exitCode !== null);
  let round: Fault[] = [];
  while (!isOver()) {
    if (round.length === 0) round = shuffled(faults, random);
    const fault = round.pop();
    if (fault === undefined) break;
    await pause(1_000 + random() * 2_000, 'a fault strikes at some moment');
    requests.during = fault.name;
    await fault.strike();
    const recovery = await untilReady(scene);
    const { times = 0, slowestRecoveryMs = 0 } = struck.get(fault.name) ?? {};
    struck.set(fault.name, {
      name: fault.name,
      times: times + 1,
      slowestRecoveryMs: Math.max(slowestRecoveryMs, recovery),
    });
    requests.during = `calm after ${fault.name}`;
  }
  return [...struck.values()];
}

function shuffled<Value>(values: readonly Value[], random: () => number): Value[] {
  const keyed = values.map((value) => ({ value, key: random() }));
  return keyed.toSorted((a, b) => a.key - b.key).map(({ value }) => value);
}

async function untilReady({ urls, processes, requests }: Scene): Promise<number> {
  const startedAt = performance.now();
  const isReady = async () => {
    if (processes.some(({ child }) => child.exitCode !== null)) return true;
    const answers = await Promise.all(
      urls.map((url) => send(`${url}/readyz`, 'GET').then(({ status }) => status)),
    );
    return answers.every((status) => status === 200) ? true : null;
  };
  await eventually('every process to be ready', isReady, recoveryMs).catch(() => {
    requests.violations.push(`not ready ${recoveryMs} ms after "${requests.during}"`);
  });
  return Math.round(performance.now() - startedAt);
}

function report(requests: Requests, struck: readonly Struck[], kept: readonly Kept[]): void {
  const wrong = [...new Set(requests.violations)].slice(0, maxShown);
  console.table(Object.fromEntries(requests.tallies));
  console.table(struck.map(({ name, ...rest }) => ({ fault: name, ...rest })));
  console.table(kept);
  console.log(`  ${requests.violations.length} wrong answers`);
  for (const violation of wrong) console.log(`  ${violation}`);
}
