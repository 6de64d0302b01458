/**
 * Does a bad neighbour slow other tenants down? Measures the time from the commit of an event to
 * its arrival at a good receiver, for a webhook in constant use and for the first deliveries of new
 * ones, alone and next to 40 and 400 webhooks of other organizations whose receivers misbehave, at
 * the same origin and at another one. `prompt` is not a bad neighbour: it responds with 204 at
 * once, so its rows show the cost of the load itself. Arguments are parts of case names, such as
 * `slow:400:other`. The sender runs in this process.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { setDefaultCACertificates } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { Agent, request } from 'undici';
import { createWebhook } from '../server/src/features/webhooks/endpoints/endpoints.ts';
import { badAnswers, startSilentNameServer } from '../server/test/webhooks/neighbours.ts';
import { startDeliverySender } from '../server/src/features/webhooks/sending/sender.ts';
import { cause } from '../server/test/webhooks/webhooks.ts';
import { webhookDeliveries } from '../server/src/features/webhooks/webhooks.ts';
import { inTransaction } from '../server/src/platform/database/database.ts';
import { parseAllowList } from '../server/src/platform/egress/allow-list.ts';
import { createEgress } from '../server/src/platform/egress/egress.ts';
import { createResolver } from '../server/src/platform/egress/resolver.ts';
import { createTestAuthority } from '../server/src/platform/egress/test-certificate.ts';
import { Hints } from '../server/src/platform/hints/hints.ts';
import { newTypeId, type OrganizationId } from '../server/src/platform/values/ids.ts';
import { createLogger } from '../server/src/platform/logging/logging.ts';
import { createVault, loadEncryptionKey } from '../server/src/platform/secrets/vault.ts';
import { median, report, type Row } from './lib/report.ts';
import { startBenchService } from './lib/service.ts';
import { fillLine } from './lib/webhooks.ts';

const rounds = 240;
/** A new webhook gets its first delivery in every third round. */
const roundsPerNew = 3;
const pauseMs = 15;
const warmUpRounds = 20;
/** Deliveries queued for each bad neighbour, initially and again every `roundsPerFill` rounds. */
const queuedEach = 10;
const roundsPerFill = 80;
const perOrganization = 50;
const maxRatio = 2;

const receiverScript = fileURLToPath(new URL('./lib/neighbour-receiver.ts', import.meta.url));
const authority = await createTestAuthority();
const certificate = await authority.issue(['127.0.0.1']);
const folder = await mkdtemp(path.join(os.tmpdir(), 'reelfeed-bench-'));
const files = [path.join(folder, 'key.pem'), path.join(folder, 'cert.pem')] as const;
await writeFile(files[0], certificate.key);
await writeFile(files[1], certificate.cert);
const child = spawn(
  process.execPath,
  ['--disable-warning=ExperimentalWarning', receiverScript, ...files],
  { stdio: ['ignore', 'pipe', 'inherit'] },
);
const [line] = (await once(child.stdout, 'data')) as [Buffer];
const [good = 0, bad = 0, silent = 0] = line.toString().split(' ').map(Number);
setDefaultCACertificates([authority.cert]);
const agent = new Agent({ connect: { ca: authority.cert }, connections: 1 });
const ask = async (target: string) => {
  const { body } = await request(`https://127.0.0.1:${good}${target}`, { dispatcher: agent });
  return body.json();
};

const nameServer = await startSilentNameServer();
await using service = await startBenchService({ REELFEED_ROLES: 'api' });
const { db } = service.database;
const vault = createVault(await loadEncryptionKey(null, service.dataDir));
const log = createLogger('error');

type Neighbours = { kind: string; count: number; origin: 'same' | 'other'; url: string };

async function newOrganization(): Promise<OrganizationId> {
  const organizationId = newTypeId('org');
  await db
    .insertInto('organization')
    .values({ organization_id: organizationId, name: 'bench' })
    .execute();
  return organizationId;
}

async function register(organizationId: OrganizationId, url: string): Promise<string> {
  const asked = { url, events: ['content.ready'], description: null };
  const { webhookId } = await inTransaction(db, (tx) =>
    createWebhook(tx, vault, organizationId, asked),
  );
  return webhookId;
}

async function registerMany(count: number, url: string): Promise<string[]> {
  const ids: string[] = [];
  let organizationId = await newOrganization();
  for (let n = 0; n < count; n += 1) {
    if (n % perOrganization === perOrganization - 1) organizationId = await newOrganization();
    ids.push(await register(organizationId, url));
  }
  return ids;
}

type Lags = {
  warm: number[];
  first: number[];
  /** CPU milliseconds of this process and of the receivers. */
  senderCpu: number;
  receiverCpu: number;
  /** Requests to the neighbours. */
  badRequests: number;
};

/** Uses a new sender for each row, so that nothing is left over from the previous one. */
async function measure(neighbours: Neighbours | null): Promise<Lags> {
  await db.deleteFrom('webhook').execute();
  await db.deleteFrom('webhook_delivery').execute();
  const hints = new Hints();
  await using egress = createEgress({
    allow: parseAllowList(['127.0.0.0/8']),
    lookup: createResolver({ servers: [nameServer.address] }),
  });
  await using sender = startDeliverySender({
    db,
    log,
    egress,
    vault,
    hints,
    scheduleMs: [0, ...Array.from({ length: 50 }, () => 1_000)],
    concurrency: 256,
    isOnlySender: true,
    timing: { graceMs: 50 },
  });
  const warm = await newOrganization();
  await register(warm, `https://127.0.0.1:${good}/good`);
  const fresh: OrganizationId[] = [];
  for (let n = 0; n < rounds / roundsPerNew; n += 1) {
    const organizationId = await newOrganization();
    await register(organizationId, `https://127.0.0.1:${good}/good`);
    fresh.push(organizationId);
  }
  const ids = neighbours === null ? [] : await registerMany(neighbours.count, neighbours.url);
  const fill = async () => {
    if (ids.length > 0) await fillLine(db, ids, ids.length * queuedEach);
    hints.give(webhookDeliveries);
  };
  const committed = { warm: new Map<string, number>(), first: new Map<string, number>() };
  const commit = async (organizationId: string, title: string, at: Map<string, number> | null) => {
    await cause(db, organizationId, title);
    at?.set(title, performance.timeOrigin + performance.now());
    hints.give(webhookDeliveries);
  };
  await ask('/used');
  const cpuBefore = process.cpuUsage();
  await fill();
  for (let round = -warmUpRounds; round < rounds; round += 1) {
    const isMeasured = round >= 0;
    await commit(warm, `warm ${round}`, isMeasured ? committed.warm : null);
    if (isMeasured && round % roundsPerNew === 0) {
      await commit(fresh[round / roundsPerNew] ?? '', `first ${round}`, committed.first);
    }
    if (isMeasured && round % roundsPerFill === roundsPerFill - 1) await fill();
    await delay(pauseMs);
  }
  const { user, system } = process.cpuUsage(cpuBefore);
  const used = (await ask('/used')) as { cpu: number; bad: number };
  const arrivals = new Map<string, number>();
  for (let tries = 0; tries < 300; tries += 1) {
    for (const [title, at] of (await ask('/arrivals')) as [string, number][]) {
      arrivals.set(title, at);
    }
    const titles = [...committed.warm.keys(), ...committed.first.keys()];
    if (titles.every((title) => arrivals.has(title))) break;
    await delay(100);
  }
  const lagsOf = (moments: Map<string, number>) =>
    Array.from(moments, ([title, at]) => (arrivals.get(title) ?? Infinity) - at).toSorted(
      (a, b) => a - b,
    );
  if (neighbours !== null && sender.underWay() === 0 && neighbours.kind === 'headers') {
    throw new Error('no request to the neighbours was in progress');
  }
  return {
    warm: lagsOf(committed.warm),
    first: lagsOf(committed.first),
    senderCpu: (user + system) / 1_000,
    receiverCpu: used.cpu,
    badRequests: used.bad,
  };
}

const at = (lags: readonly number[], share: number) =>
  lags[Math.floor((lags.length - 1) * share)] ?? Number.NaN;
const figures = ({ warm, first, senderCpu, receiverCpu, badRequests }: Lags) =>
  [at(warm, 0.5), at(warm, 0.99), at(first, 0.5), at(first, 0.99)]
    .map((ms) => ms.toFixed(1).padStart(8))
    .join('') + [senderCpu, receiverCpu, badRequests].map((n) => n.toFixed(0).padStart(8)).join('');

const wanted = process.argv.slice(2);
const cases: Neighbours[] = [];
for (const kind of ['prompt', ...badAnswers, 'tls', 'dns']) {
  for (const count of [40, 400]) {
    const add = (origin: Neighbours['origin'], url: string) => {
      const name = `${kind}:${count}:${origin}`;
      if (wanted.length > 0 && !wanted.some((part) => name.includes(part))) return;
      cases.push({ kind, count, origin, url });
    };
    // Neither reaches a path, because the connection hangs earlier.
    if (kind === 'tls') add('other', `https://127.0.0.1:${silent}/`);
    else if (kind === 'dns') add('other', `https://hangs.example:${bad}/`);
    else {
      add('same', `https://127.0.0.1:${good}/${kind}`);
      add('other', `https://127.0.0.1:${bad}/${kind}`);
    }
  }
}

await measure(null);
const baselines: Lags[] = [await measure(null)];
const results: { neighbours: Neighbours; lags: Lags }[] = [];
for (const [n, neighbours] of cases.entries()) {
  const lags = await measure(neighbours);
  results.push({ neighbours, lags });
  const { kind, count, origin } = neighbours;
  process.stderr.write(`${n + 1} of ${cases.length}: ${kind}:${count}:${origin}${figures(lags)}\n`);
  if (n % 8 === 7) baselines.push(await measure(null));
}
const limitOf = (lags: 'warm' | 'first') =>
  maxRatio * median(baselines.map((baseline) => at(baseline[lags], 0.99)));
const limits = { warm: limitOf('warm'), first: limitOf('first') };
const rows: Row[] = [
  {
    what: 'milliseconds',
    figure: 'warm p50, p99, first p50, p99; CPU of sender, receivers; requests to neighbours',
  },
  ...baselines.map((baseline) => ({ what: 'alone', figure: figures(baseline) })),
];
for (const { neighbours, lags } of results) {
  rows.push({
    what: `${neighbours.count} × ${neighbours.kind}, ${neighbours.origin} origin`,
    figure: figures(lags),
    ...(neighbours.kind !== 'prompt' && {
      limit: `≤ ${limits.warm.toFixed(0)}, ${limits.first.toFixed(0)} ms`,
      kept: at(lags.warm, 0.99) <= limits.warm && at(lags.first, 0.99) <= limits.first,
    }),
  });
}
report(rows);
nameServer.close();
child.kill('SIGTERM');
await agent.destroy();
