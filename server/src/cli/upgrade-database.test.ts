/** Proves that one command moves an installation to a newer PostgreSQL. */
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { test } from 'node:test';
import { sampleEvent } from '../../test/event-samples.ts';
import { form, sampleBytes } from '../../test/media.ts';
import { ready, runCommand, startMain } from '../../test/processes.ts';
import { eventually, send, temporaryFolder, toUrl, type Call } from '../../test/service.ts';
import { claimDataDirectory } from '../platform/data-directory/data-directory.ts';
import { connectionToRunningServer } from '../platform/postgres/running-server.ts';
import {
  installedPrograms,
  makeOldCluster,
  skipWithoutPrograms,
} from '../platform/upgrade/testing.ts';

const programs = installedPrograms ?? '';
const dataDir = await temporaryFolder();
const env = {
  PORT: '0',
  REELFEED_DATA_DIR: dataDir,
  REELFEED_MIN_FREE_BYTES: '0',
  REELFEED_LOG_LEVEL: 'error',
};

async function start(more: Record<string, string> = {}) {
  const running = startMain({ env: { ...env, ...more } });
  const url = await ready(running);
  key ||= /(rf_sk_\S+)/.exec(running.output.stdout)?.[1] ?? '';
  return {
    call: (method: string, target: string, call: Call = {}) =>
      send(url + target, method, { key, ...call }),
    async stop() {
      running.child.kill('SIGTERM');
      assert.equal((await running.ended).code, 0);
    },
  };
}

let key = '';
type Running = Awaited<ReturnType<typeof start>>;

const overview = async (service: Running) =>
  (await service.call('GET', '/v1/analytics/overview')).body.data.summary;

/**
 * Fills the installation while its database runs on the older PostgreSQL. Returns the id of an
 * item.
 */
async function fill(): Promise<string> {
  const claim = await claimDataDirectory(dataDir);
  await using _server = await makeOldCluster(claim, programs);
  await claim[Symbol.asyncDispose]();
  const DATABASE_URL = toUrl(await connectionToRunningServer(dataDir));
  const service = await start({ DATABASE_URL });
  const uploaded = await service.call('POST', '/v1/content/upload', {
    body: form([
      ['title', 'Kept 🎬'],
      ['file', await sampleBytes('small.mp4')],
    ]),
  });
  const { id } = uploaded.body.data;
  const isReady = async () => {
    const { body } = await service.call('GET', `/v1/content/${id}`);
    return body.data.uploadStatus === 'ready' ? true : null;
  };
  await eventually('the item to be ready', isReady, 300_000);
  const events = Array.from({ length: 50 }, () => sampleEvent('playStart', id));
  assert.equal((await service.call('POST', '/v1/events/batch', { body: { events } })).status, 200);
  const isCounted = async () => ((await overview(service)).plays === 50 ? true : null);
  await eventually('the plays to be counted', isCounted, 60_000);
  await service.stop();
  return id;
}

test(
  'after `upgrade-database` the service has all it had',
  { skip: skipWithoutPrograms },
  async () => {
    const id = await fill();
    const refused = await startMain({ env }).ended;
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /^The database in \S+ was created by .*upgrade-database`\.\n$/);

    const wrong = await runCommand(['upgrade-database', '--old-binaries', dataDir], { env });
    assert.match(wrong.stderr, /^\S+ contains no bin\/postgres\.\n$/m);
    const args = ['upgrade-database', '--old-binaries', `${programs}/bin`];
    const done = await runCommand(args, { env });
    assert.equal(done.code, 0, done.stderr);
    assert.match(
      done.stdout,
      /^Upgraded the database from PostgreSQL \d+ to 18\.\d+: \d+ rows in \d+ tables/,
    );

    const service = await start();
    const item = (await service.call('GET', `/v1/content/${id}`)).body.data;
    assert.equal(item.title, 'Kept 🎬');
    assert.equal((await service.call('GET', new URL(item.streamingUrl).pathname)).status, 200);
    assert.equal((await overview(service)).plays, 50);
    // New events are counted as well: the projections continue reading.
    const body = { events: [sampleEvent('playStart', id)] };
    assert.equal((await service.call('POST', '/v1/events/batch', { body })).status, 200);
    const isCounted = async () => ((await overview(service)).plays === 51 ? true : null);
    await eventually('one more play', isCounted, 60_000);
    const busy = await runCommand(['upgrade-database'], { env });
    assert.match(busy.stderr, /^The data directory \S+ is in use by process \d+/);
    await service.stop();

    assert.match(
      (await runCommand(['upgrade-database'], { env })).stdout,
      /already uses PostgreSQL [\d.]+\.\n$/,
    );
    const removed = await runCommand(['upgrade-database', '--remove-old'], { env });
    assert.match(removed.stdout, /^Removed postgres-old-\d+\.\n$/);
    assert.ok(!(await readdir(dataDir)).some((name) => name.startsWith('postgres-old')));
  },
);
