/**
 * Is our sender faster than what a team would use instead? Compares graphile-worker and pg-boss
 * with undici, and our sender, each in a separate process, alternately, with the same two
 * signatures, body, HTTPS receiver and durable PostgreSQL. Then measures the time from a commit to
 * the receiver while nothing else is sent, for commits in the sending process and in another one.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { newSecret } from '../server/src/features/webhooks/endpoints/signing-keys.ts';
import { connectionToRunningServer } from '../server/src/platform/postgres/running-server.ts';
import { median, report, type Row } from './lib/report.ts';
import { startBenchService } from './lib/service.ts';
import { commitSlowly, lagsOf } from './lib/webhook-latencies.ts';
import {
  openPeer,
  peerNames,
  type Peer,
  type PeerName,
  type PeerOptions,
} from './lib/webhook-peers.ts';
import { benchBody, registerWebhooks, startBenchReceiver, waitForCount } from './lib/webhooks.ts';

const rounds = 5;
const deliveriesEach = 20_000;
/** The rate is measured from this delivery on, because committing them all takes a while. */
const firstArrivals = 1_000;
const bareSeconds = 2;
const posterScript = fileURLToPath(new URL('./lib/bare-poster.ts', import.meta.url));
const peerScript = fileURLToPath(new URL('./lib/webhook-peer.ts', import.meta.url));

await using receiver = await startBenchReceiver();
await using service = await startBenchService({ ...receiver.env, REELFEED_ROLES: 'api' });
const [webhookId = ''] = await registerWebhooks(service, receiver.url, 1);
const { organization_id: organizationId } = await service.database.db
  .selectFrom('organization')
  .select('organization_id')
  .executeTakeFirstOrThrow();
const options: PeerOptions = {
  connection: await connectionToRunningServer(service.dataDir),
  dataDir: service.dataDir,
  url: receiver.url,
  allow: receiver.env['REELFEED_EGRESS_ALLOW'] ?? '',
  organizationId,
  webhookId,
  secret: newSecret(),
  sends: false,
};
const env = { PATH: process.env['PATH'], NODE_EXTRA_CA_CERTS: receiver.caFile };
const bodyFile = path.join(service.dataDir, 'bench-webhook-body.json');
await writeFile(bodyFile, benchBody(webhookId, 'A clip of the benchmark'));

async function barePerSecond(): Promise<number> {
  const args = [posterScript, receiver.url, bodyFile, '64', String(bareSeconds)];
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...args], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  await once(child, 'exit');
  return Number(line.toString());
}

/** The process that sends, and the peer in this process that commits. */
type Contestant = AsyncDisposable & {
  name: PeerName;
  producer: Peer;
  ask: <Answer>(question: 'cpu' | 'latency') => Promise<Answer>;
  rates: number[];
  /** CPU microseconds per delivery: of the process, and of the process plus the database. */
  cpu: number[];
  cpuWithDatabase: number[];
};

async function enter(name: PeerName): Promise<Contestant> {
  const producer = await openPeer(name, options);
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', peerScript, name],
    { env, stdio: ['pipe', 'pipe', 'inherit'] },
  );
  const answers = createInterface(child.stdout)[Symbol.asyncIterator]();
  child.stdin.write(`${JSON.stringify(options)}\n`);
  await answers.next();
  return {
    name,
    producer,
    async ask<Answer>(question: string) {
      child.stdin.write(`${question}\n`);
      const { value } = (await answers.next()) as { value: string };
      return JSON.parse(value) as Answer;
    },
    rates: [],
    cpu: [],
    cpuWithDatabase: [],
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      if (child.exitCode === null) await once(child, 'exit');
      await producer[Symbol.asyncDispose]();
    },
  };
}

/** CPU microseconds used by all database processes, including terminated ones. */
async function databaseCpu(): Promise<number> {
  const clusterPid = Number(
    (await readFile(path.join(service.dataDir, 'postgres', 'postmaster.pid'), 'utf8')).split(
      '\n',
    )[0],
  );
  let ticks = 0;
  for (const pid of await readdir('/proc')) {
    if (!/^\d+$/.test(pid)) continue;
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
    // The fields after the parenthesized name: state, parent, and CPU times from the 12th on.
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    if (Number(pid) === clusterPid) ticks += sum(fields.slice(11, 15));
    else if (fields[1] === clusterPid) ticks += sum(fields.slice(11, 13));
  }
  return ticks * 10_000;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

async function race({ producer, ask, ...figures }: Contestant, isWarmUp: boolean): Promise<void> {
  const { count } = await receiver.count();
  const before = [await ask<number>('cpu'), await databaseCpu()] as const;
  await producer.fill(deliveriesEach);
  const filled = await databaseCpu();
  const first = await waitForCount(receiver, count + firstArrivals);
  const last = await waitForCount(receiver, count + deliveriesEach);
  const after = [await ask<number>('cpu'), await databaseCpu()] as const;
  if (isWarmUp) return;
  const cpu = (after[0] - before[0]) / deliveriesEach;
  figures.rates.push(((last.count - first.count) / (last.lastAt - first.lastAt)) * 1_000);
  figures.cpu.push(cpu);
  figures.cpuWithDatabase.push(cpu + (after[1] - filled) / deliveriesEach);
}

await using stack = new AsyncDisposableStack();
const contestants: Contestant[] = [];
for (const name of peerNames) contestants.push(stack.use(await enter(name)));
const bare: number[] = [];
for (let round = -1; round < rounds; round += 1) {
  // The first round compiles everyone's hot paths.
  const isWarmUp = round < 0;
  const rate = await barePerSecond();
  if (!isWarmUp) bare.push(rate);
  for (const contestant of contestants) await race(contestant, isWarmUp);
}

await receiver.keepArrivals();
const at = (lags: readonly number[], share: number) =>
  lags[Math.floor((lags.length - 1) * share)] ?? Number.NaN;
const shown = (lags: readonly number[]) =>
  `${at(lags, 0.5).toFixed(1)}, ${at(lags, 0.99).toFixed(1)} ms`;

const latencyRows: Row[] = [];
for (const { name, ask, producer } of contestants) {
  const within = await ask<[string, number][]>('latency');
  const across = await commitSlowly(producer, `${name} across`);
  await delay(1_000);
  const arrivals = await receiver.arrivals();
  for (const [what, committed] of [
    ['same', within],
    ['another', across],
  ] as const) {
    const lags = lagsOf(committed, arrivals);
    const row: Row = {
      what: `${name}: ${what} process commits → wire, p50, p99`,
      figure: shown(lags),
    };
    const kept = at(lags, 0.5) <= 10 && at(lags, 0.99) <= 50;
    latencyRows.push(name === 'ours' ? { ...row, limit: '≤ 10, 50 ms', kept } : row);
  }
}

const [ours, ...others] = contestants.map(({ name, rates, cpu, cpuWithDatabase }) => ({
  name,
  rates,
  rate: median(rates),
  cpu: median(cpu),
  total: median(cpuWithDatabase),
}));
if (ours === undefined) throw new Error('no sender was measured');
const fastest = others.toSorted((a, b) => b.rate - a.rate)[0] ?? ours;
const ratioTo = (rates: readonly number[]) =>
  median(ours.rates.map((rate, index) => rate / (rates[index] ?? Number.NaN)));
const ratio = ratioTo(fastest.rates);
const least = Math.min(...others.map(({ cpu }) => cpu));
report([
  ...[ours, ...others].flatMap(({ name, rate, cpu, total }): Row[] => [
    { what: `${name}: deliveries/s`, figure: rate.toFixed(0) },
    {
      what: `${name}: µs of a core per delivery, and with the database`,
      figure: `${cpu.toFixed(0)}, ${total.toFixed(0)}`,
    },
  ]),
  {
    what: `ours ÷ ${fastest.name}`,
    figure: ratio.toFixed(2),
    limit: '≥ 1.50',
    kept: ratio >= 1.5,
  },
  {
    what: 'ours ÷ the peer with the least processor time',
    figure: (ours.cpu / least).toFixed(2),
    limit: '≤ 1.00',
    kept: ours.cpu <= least,
  },
  { what: 'bare undici posts/s', figure: median(bare).toFixed(0) },
  { what: 'ours ÷ bare', figure: ratioTo(bare).toFixed(2) },
  ...latencyRows,
]);
