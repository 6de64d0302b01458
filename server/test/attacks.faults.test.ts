/**
 * Proves that, over twenty rounds of every known attack, the service stays alive, its memory stays
 * bounded, and another organization's feed is hardly slower than without an attack.
 * `bench/attacks.ts` measures the same on a quiet machine.
 */
import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, test } from 'node:test';
import { attackNames, startAttack, type Target } from '../../bench/lib/attacker.ts';
import { insertReadyItems } from '../../bench/lib/catalogue.ts';
import { generateKey } from '../src/features/keys/key-format.ts';
import { openDatabase } from '../src/platform/database/database.ts';
import { createOrganization } from './seed.ts';
import { cloneDatabase, silentLog } from './database.ts';
import { startProcess } from './processes.ts';
import { eventually, send, temporaryFolder, type TestService } from './service.ts';
import { pause } from './waiting.ts';

const rounds = Math.max(20, attackNames.length);
const roundMs = 5_000;
const betweenPagesMs = 20;
const maxAddedMegabytes = 256;
const maxSlowdown = 2;
/** Below this, a ratio reflects the machine rather than the service. */
const smallestBaselineMs = 50;

const connection = await cloneDatabase();
const dataDir = await temporaryFolder();
const key = generateKey('publishable');
const service = await startProcess(connection, dataDir, { REELFEED_PUBLISHABLE_KEY: key });
after(() => service.kill());
await using database = openDatabase({ connection, poolSize: 2, log: silentLog });
await insertReadyItems(database.db, 1, 1_000);
const segment = '/media/bench00000000000000001/000000000000/720/0.m4s';
const file = path.join(dataDir, 'media/objects', segment);
await mkdir(path.dirname(file), { recursive: true });
await writeFile(file, Buffer.alloc(200 * 1024, 'segment'));
const attacker = await createOrganization({ connection } as TestService, 'Attacker');
const target: Target = { url: service.url, segment, ...attacker };

/** Reads feed pages for a while. Returns the 99th percentile of their response times. */
async function readFeed(): Promise<number> {
  const times: number[] = [];
  const end = performance.now() + roundMs;
  while (performance.now() < end) {
    const startedAt = performance.now();
    const { status } = await send(`${service.url}/v1/feed`, 'GET', { key });
    assert.equal(status, 200);
    times.push(performance.now() - startedAt);
    await pause(betweenPagesMs, 'a neighbour that reads at a steady pace');
  }
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? 0;
}

async function residentMegabytes(): Promise<number> {
  const status = await readFile(`/proc/${service.pid}/status`, 'utf8');
  return Math.round(Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024);
}

for (const asked of ['/openapi.json', '/docs/scalar.js', segment]) {
  assert.equal((await send(service.url + asked, 'GET')).status, 200, asked);
}
await readFeed();

for (let round = 0; round < rounds; round += 1) {
  const name = attackNames[round % attackNames.length] ?? assert.fail();
  test(`round ${round + 1}: ${name}`, async () => {
    await eventually('the feed to be calm', async () => {
      const startedAt = performance.now();
      await send(`${service.url}/v1/feed`, 'GET', { key });
      return performance.now() - startedAt < smallestBaselineMs * 2 ? true : null;
    });
    const baselineMs = Math.max(smallestBaselineMs, await readFeed());
    const before = await residentMegabytes();
    const attack = startAttack(name, target);
    const duringMs = await readFeed();
    const added = (await residentMegabytes()) - before;
    await attack[Symbol.asyncDispose]();
    assert.ok(added <= maxAddedMegabytes, `${added} MB more`);
    assert.ok(duringMs <= maxSlowdown * baselineMs, `${duringMs} ms instead of ${baselineMs} ms`);
    assert.equal((await send(`${service.url}/healthz`, 'GET')).status, 200);
  });
}
