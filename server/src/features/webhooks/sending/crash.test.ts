/**
 * Kills the real service, with its own database, repeatedly under load. Runs at a tenth of full
 * scale by default; `npm run test:faults` runs 10,000 events, twenty kills and three database
 * crashes.
 */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { sql } from 'kysely';
import { silentLog } from '../../../../test/database.ts';
import { ready, startMain } from '../../../../test/processes.ts';
import { authority, startReceiver } from '../../../../test/receiver.ts';
import { eventually, send, temporaryFolder } from '../../../../test/service.ts';
import { openDatabase, type Database } from '../../../platform/database/database.ts';
import { connectionToRunningServer } from '../../../platform/postgres/running-server.ts';
import { generateKey } from '../../keys/keys.ts';
import { cause } from '../../../../test/webhooks/webhooks.ts';
import { isFullScale } from '../../../../test/scale.ts';
import { pause } from '../../../../test/waiting.ts';

const scale = isFullScale
  ? { events: 10_000, kills: 20, crashes: 3 }
  : { events: 1_000, kills: 4, crashes: 1 };

const dataDir = await temporaryFolder();
const caFile = path.join(dataDir, 'receiver-ca.pem');
await writeFile(caFile, authority.cert);
const secretKey = generateKey('secret');
// A slow receiver, so that there is always something in flight.
const receiver = await startReceiver(() => (_request, response) => {
  void pause(20, 'the receiver is slow').then(() => response.writeHead(204).end());
});

async function startHere() {
  const service = startMain({
    env: {
      PORT: '0',
      REELFEED_HOST: '127.0.0.1',
      REELFEED_DATA_DIR: dataDir,
      REELFEED_SECRET_KEY: secretKey,
      REELFEED_LOG_LEVEL: 'warn',
      REELFEED_MIN_FREE_BYTES: '0',
      REELFEED_EGRESS_ALLOW: receiver.allow,
      NODE_EXTRA_CA_CERTS: caFile,
      REELFEED_WEBHOOK_RETRY_SCHEDULE: '0s,1s,1s,1s,1s,1s',
    },
  });
  return { ...service, url: await ready(service) };
}

/** Connects to the running service's database, retrying while it is away. */
async function openHere(): Promise<Database> {
  const connection = await connectionToRunningServer(dataDir);
  return openDatabase({ connection, poolSize: 4, log: silentLog });
}

/** Records events until `count` are committed, despite database failures. */
async function causeAll(
  { db }: Database,
  organizationId: string,
  acked: Set<string>,
  isEnough: () => boolean,
) {
  let tried = 0;
  const one = async () => {
    while (!isEnough()) {
      tried += 1;
      // A commit whose response was lost may have succeeded, so a retry uses another title.
      const title = `event ${tried}`;
      try {
        await cause(db, organizationId, title);
        acked.add(title);
      } catch {
        await pause(20, 'before another try');
      }
      await pause(isFullScale ? 4 : 10, 'the load is spread');
    }
  };
  await Promise.all([one(), one(), one()]);
}

test(
  `${scale.kills} kill -9 and ${scale.crashes} crashes of the database under ${scale.events} events lose nothing and repeat only what was under way`,
  { timeout: 600_000 },
  async () => {
    let service = await startHere();
    let database = await openHere();
    const { organization_id: organizationId } = await database.db
      .selectFrom('organization')
      .select('organization_id')
      .executeTakeFirstOrThrow();
    const registered = await send(`${service.url}/v1/webhooks`, 'POST', {
      key: secretKey,
      body: { url: receiver.url, events: ['content.ready'] },
    });
    assert.equal(registered.status, 201, registered.text);

    const acked = new Set<string>();
    const causing = causeAll(database, organizationId, acked, () => acked.size >= scale.events);
    let underWayAtKills = 0;
    for (let kill = 0; kill < scale.kills; kill += 1) {
      const target = ((kill + 1) * scale.events) / (scale.kills + 2);
      await eventually('the load', async () => (acked.size >= target ? true : null), 120_000);
      if (kill % 5 === 3 && kill / 5 < scale.crashes) {
        const { rows } = await sql<{ pid: number }>`
        select pid from pg_stat_activity
        where backend_type = 'client backend' and pid <> pg_backend_pid() limit 1`.execute(
          database.db,
        );
        underWayAtKills += await claimed(database);
        // Killing a server process sends the whole database through crash recovery.
        process.kill(rows[0]?.pid ?? 0, 'SIGKILL');
        await pause(500, 'the database recovers');
      }
      service.child.kill('SIGKILL');
      await service.ended;
      underWayAtKills += await claimed(database);
      service = await startHere();
    }
    await causing;
    await eventually(
      'the line to be empty',
      async () => {
        const [row] = await database.db
          .selectFrom('webhook_delivery')
          .select('delivery_id')
          .limit(1)
          .execute()
          .catch(() => [{ delivery_id: 'the database is away' }]);
        return row === undefined ? true : null;
      },
      120_000,
    );

    const titles = new Set<string>();
    const times = new Map<string, number>();
    for (const { headers, body } of receiver.requests) {
      titles.add(JSON.parse(body).data.title);
      const id = String(headers['x-service-delivery-id']);
      times.set(id, (times.get(id) ?? 0) + 1);
    }
    const lost = [...acked].filter((title) => !titles.has(title));
    assert.deepEqual(lost, [], 'every committed event has arrived');
    const repeats = receiver.requests.length - times.size;
    console.log(
      `${acked.size} events, ${receiver.requests.length} requests, ${repeats} repeats, ${underWayAtKills} under way at the kills`,
    );
    // At most the webhook's window can start between the count and a database crash.
    const most = underWayAtKills + scale.crashes * 64;
    assert.ok(repeats <= most, `${repeats} repeats, ${underWayAtKills} under way`);

    const shown = await send(`${service.url}/v1/webhooks/${registered.body.data.id}`, 'GET', {
      key: secretKey,
    });
    const { totalDeliveries, successfulDeliveries, failedDeliveries } = shown.body.data.stats;
    assert.deepEqual(
      [totalDeliveries, successfulDeliveries, failedDeliveries],
      [times.size, times.size, 0],
      'the counts are exact after all this',
    );

    // On a shutdown under load, nothing is recorded as failed, and interrupted sends arrive later.
    const late = new Set<string>();
    let hasEnded = false;
    const more = causeAll(database, organizationId, late, () => hasEnded);
    await eventually('some load', async () => (late.size > 60 ? true : null));
    service.child.kill('SIGTERM');
    const { code } = await service.ended;
    assert.equal(code, 0);
    hasEnded = true;
    await more;
    await database[Symbol.asyncDispose]();
    service = await startHere();
    database = await openHere();
    await eventually('the line to be empty', async () => {
      const rows = await database.db.selectFrom('webhook_delivery').select('attempts').execute();
      return rows.length === 0 ? true : null;
    });
    const arrived = new Set(receiver.requests.map(({ body }) => JSON.parse(body).data.title));
    assert.deepEqual(
      [...late].filter((title) => !arrived.has(title)),
      [],
      'nothing was lost',
    );
    const { failures } = await database.db
      .selectFrom('webhook_delivery_log')
      .select((eb) => eb.fn.countAll<number>().as('failures'))
      .where((eb) => eb.or([eb('status', '=', 'failed'), eb('attempts', '>', 1)]))
      .executeTakeFirstOrThrow();
    assert.equal(failures, 0);
    await database[Symbol.asyncDispose]();
  },
);

async function claimed(database: Database): Promise<number> {
  return eventually('the number of claims', async () => {
    const rows = await database.db
      .selectFrom('webhook_delivery')
      .select('delivery_id')
      .where('sender_id', 'is not', null)
      .execute()
      .catch(() => null);
    return rows === null ? null : rows.length;
  });
}
