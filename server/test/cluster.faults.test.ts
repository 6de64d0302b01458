/**
 * Everything together: three API processes behind a load balancer, four workers and one media
 * process, on a PostgreSQL with a synchronous replica and a three-node JetStream. All processes are
 * restarted, then a worker, a NATS server and the primary are killed, while players, editors,
 * uploads, a broadcast, exports, webhooks and experiments are active. Nothing acknowledged is lost
 * or duplicated, no request fails during the restarts, and rate limits stay exact.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openJetStream } from '../src/platform/event-log/jetstream/jetstream-stream.ts';
import { clients, newJournal } from './chaos/clients.ts';
import { countKept } from './chaos/promises.ts';
import { Requests } from './chaos/requests.ts';
import { startCluster, stream as eventStream, type Cluster } from './cluster.ts';
import { silentLog } from './database.ts';
import { createStream } from './live-publisher.ts';
import { sampleBytes } from './media.ts';
import { hasNatsServer } from './nats-cluster.ts';
import { run } from './outside-postgres.ts';
import { hasReplication } from './postgres-pair.ts';
import { send, type TestService } from './service.ts';
import { pause, until } from './waiting.ts';
import { askOf, type Ask } from './world/ask.ts';

const options = {
  skip:
    hasNatsServer && hasReplication
      ? false
      : 'needs nats-server and the programs of an installed PostgreSQL',
};
const roles = ['api', 'api', 'api', 'worker', 'worker', 'worker', 'worker', 'media'];
const calmMs = 10_000;
/** Maximum number of violations shown. */
const maxShown = 30;
/** Maximum time from the promotion until an event is acknowledged again. */
const backWithinMs = 5_000;
/** A dead worker's partitions move when its leases expire, after three seconds. */
const movedWithinMs = 10_000;

test('everything at once on many processes and replicated engines', options, async (t) => {
  const cluster = await startCluster(roles);
  const { balancer, postgres, nats, secretKey } = cluster;
  const call: TestService['call'] = (method, target, given) =>
    send(balancer.url + target, method, { key: secretKey, ...given });
  const ask = askOf({ call, secretKey });
  await ask('POST', '/v1/webhooks', { url: cluster.receiver.url, events: ['*'] });
  const contentIds: string[] = [];
  for (let n = 0; n < 30; n += 1) {
    const fields = { title: `Item ${n}`, tags: ['bulk', `tag-${n % 5}`] };
    contentIds.push((await ask('POST', '/v1/content/upload', fields)).id);
  }
  const stream = await createStream({ call }, { reconnectWindow: 1_800 });
  const requests = new Requests([balancer.url], secretKey);
  const journal = newJournal();
  const stopping = new AbortController();
  const clip = await sampleBytes('small.mp4');
  const live = { rtmpPort: cluster.rtmpPort, streamKey: stream.streamKey };
  const parts = { requests, journal, contentIds, clip, live, signal: stopping.signal };
  const working = clients.map((client) => client(parts));
  const failed = () => {
    const tallies = [...requests.tallies.values()];
    const refused = tallies.reduce((sum, tally) => sum + tally.refused, 0);
    return refused + requests.violations.length;
  };
  const untilAcknowledged = async (when: string) => {
    const before = journal.events.size;
    const startedAt = performance.now();
    await until(
      `events to be acknowledged ${when}`,
      () => journal.events.size,
      (size) => size > before,
      60_000,
    );
    return Math.round(performance.now() - startedAt);
  };
  const found: Record<string, number> = {};
  try {
    await pause(calmMs, 'everything works for a while');
    requests.during = 'the restarts';
    const before = failed();
    for (const member of cluster.members) await cluster.restart(member);
    found['failed during the restarts'] = failed() - before;

    requests.during = 'the death of a worker';
    found['partitions moved after ms'] = await killWorker(cluster);
    found['failed while a worker is dead'] =
      failed() - before - (found['failed during the restarts'] ?? 0);
    found['passed the limit of 50'] = await passLimit(balancer.url, ask);

    requests.during = 'the death of a NATS server';
    await nats.kill(1);
    found['acknowledged without the NATS server after ms'] = await untilAcknowledged(
      'while a NATS server is away',
    );
    nats.start(1);
    await nats.untilComplete(eventStream, 3);

    requests.during = 'the failover of PostgreSQL';
    postgres.kill(0);
    await pause(1_000, 'whoever watches the databases decides that the primary is gone');
    await postgres.promote();
    found['acknowledged after the promotion after ms'] =
      await untilAcknowledged('after the promotion');
    await pause(calmMs, 'everything works for a while');
  } finally {
    requests.during = 'calm at the end';
    stopping.abort();
    await Promise.all(working);
    console.table(Object.fromEntries(requests.tallies));
    console.table(found);
    console.table(Object.fromEntries(requests.refusals));
    const wrong = [...new Set(requests.violations)].slice(0, maxShown);
    for (const violation of wrong) console.log(`  ${violation}`);
  }
  const bytes = await openJetStream(
    {
      servers: nats.servers,
      isEncrypted: false,
      user: null,
      password: null,
      stream: eventStream,
      replicas: null,
    },
    silentLog,
  );
  await using _bytes = bytes;
  const direct = { url: postgres.urlOf(1) };
  const { receiver } = cluster;
  const kept = await countKept(ask, journal, { receiver, direct, stream, bytes });
  console.table(kept);
  for (const { running, roles: own } of cluster.members) {
    assert.equal(running.child.exitCode, null, `${own}: ${running.output.stderr.slice(-3_000)}`);
  }
  assert.equal(requests.violations.length, 0, 'wrong answers, which stand above');
  for (const { what, promised, kept: number } of kept) {
    // A recording may lose less than a second at each interruption of its encoder.
    const isKept = what.startsWith('seconds') ? promised - number <= 2 : number === promised;
    assert.ok(isKept, `${what}: ${number} of ${promised}`);
  }
  assert.equal(found['failed during the restarts'], 0);
  assert.equal(found['failed while a worker is dead'], 0);
  assert.equal(found['passed the limit of 50'], 50);
  assert.ok((found['partitions moved after ms'] ?? Infinity) < movedWithinMs);
  assert.ok((found['acknowledged after the promotion after ms'] ?? Infinity) < backWithinMs);
  t.diagnostic(JSON.stringify(found));
});

/**
 * Kills a worker. Returns the milliseconds until others hold every partition, then starts a new
 * one.
 */
async function killWorker(cluster: Cluster): Promise<number> {
  const holders = async () => {
    const rows = await run(
      cluster.postgres.urlOf(0),
      `select holder_id from lease where starts_with(name, 'projections ') and held_until > now()`,
    );
    return rows.map((row) => String(row['holder_id']));
  };
  const before = await holders();
  const worker = cluster.members.findLast(({ roles: own }) => own === 'worker');
  assert.ok(worker !== undefined);
  await cluster.kill(worker);
  const startedAt = performance.now();
  await until(
    'other workers to hold every partition',
    async () => {
      const now = await holders();
      return now.length >= before.length && new Set(now).size < new Set(before).size;
    },
    Boolean,
    60_000,
  );
  const ms = Math.round(performance.now() - startedAt);
  await cluster.start(worker);
  return ms;
}

/**
 * Sends 200 requests across all API processes with a key limited to 50 per minute. Returns how many
 * succeeded.
 */
async function passLimit(url: string, ask: Ask): Promise<number> {
  const { key } = await ask('POST', '/v1/keys', {
    type: 'publishable',
    name: 'Limited',
    rateLimit: 50,
  });
  const answers = await Promise.all(
    Array.from({ length: 200 }, () => send(`${url}/v1/feed?limit=1`, 'GET', { key })),
  );
  return answers.filter(({ status }) => status === 200).length;
}
