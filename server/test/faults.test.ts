/**
 * Proves that, whatever is killed whenever, nothing acknowledged is lost and nothing gets stuck.
 */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { existsSync } from 'node:fs';
import { test, type TestContext } from 'node:test';
import { fetchAll, form, sampleBytes } from './media.ts';
import { kill, seededRandom, serviceProcesses } from './process-tree.ts';
import { restartInstance, startInstance, stopInstance, type Instance } from './killable-service.ts';
import { startMain } from './processes.ts';
import { eventually, send, temporaryFolder, type TestService } from './service.ts';
import { storedFiles } from './stored-files.ts';
import { scaled } from './scale.ts';
import { pause } from './waiting.ts';

const isLinux = existsSync('/proc/self/stat');
// Every acknowledged clip must become ready, however many the kills let through.
const clip = await sampleBytes(scaled('small.mp4', 'portrait.mp4'));

const hasEnded = ({ process: { child } }: Instance) =>
  child.exitCode !== null || child.signalCode !== null;

type Journal = { acknowledged: Set<string>; refusals: Set<number> };

/** Uploads clips in both ways until stopped, and records what was acknowledged. */
async function upload(instance: Instance, journal: Journal, signal: AbortSignal): Promise<void> {
  const local = (url: string) => instance.url + new URL(url).pathname;
  for (let turn = 0; !signal.aborted; turn += 1) {
    const asForm = turn % 3 === 2;
    try {
      const body = asForm
        ? form([
            ['title', 'Form'],
            ['file', clip],
          ])
        : { title: 'JSON' };
      let reply = await instance.call('POST', '/v1/content/upload', { body });
      if (!asForm && reply.status === 201) {
        const { uploadUrl } = reply.body.data;
        reply = await send(local(uploadUrl), 'PUT', { body: clip });
      }
      if (reply.status < 300) journal.acknowledged.add(reply.body.data.id);
      else journal.refusals.add(reply.status);
    } catch {
      // The connection broke, so nothing was acknowledged.
      await pause(20, 'before another try');
    }
    await pause(400, 'uploads come one after another');
  }
}

const kinds = ['service', 'media', 'postmaster', 'everything'] as const;

/** Kills a part of the service. Returns whether there was one to kill. */
async function strike(instance: Instance, kind: (typeof kinds)[number]): Promise<boolean> {
  const found = await serviceProcesses(instance.process.pid, instance.dataDir);
  const victims = {
    service: [found.service],
    media: found.media,
    postmaster: found.postmaster === null ? [] : [found.postmaster],
    everything: found.all,
  }[kind];
  kill(victims);
  return victims.length > 0;
}

/** Waits until the service responds again; restarts it if it has ended. */
async function recover(instance: Instance): Promise<Instance> {
  const deadline = performance.now() + 30_000;
  while (performance.now() < deadline) {
    if (hasEnded(instance)) return restartInstance(instance);
    const answer = await send(`${instance.url}/readyz`, 'GET').catch(() => null);
    if (answer?.status === 200) return instance;
    await pause(50, 'between two looks');
  }
  throw new Error(`the service does not come back: ${instance.process.output.stderr}`);
}

/** All items by id. */
async function allItems(instance: Instance) {
  const items = new Map<string, { id: string; uploadStatus: string; streamingUrl: string }>();
  let cursor = '';
  do {
    const { body } = await instance.call('GET', `/v1/content?limit=100${cursor}`);
    for (const item of body.data) items.set(item.id, item);
    cursor = body.meta.nextCursor === null ? '' : `&cursor=${body.meta.nextCursor}`;
  } while (cursor !== '');
  return items;
}

async function assertAllSettled(instance: Instance, { acknowledged }: Journal): Promise<void> {
  const settled = (status = '') => ['ready', 'error'].includes(status);
  await eventually(
    'every acknowledged upload to settle',
    async () => {
      const items = await allItems(instance);
      const waiting = [...acknowledged].filter((id) => !settled(items.get(id)?.uploadStatus));
      const processing = [...items.values()].filter((one) => one.uploadStatus === 'processing');
      return waiting.length + processing.length === 0 ? true : null;
    },
    120_000,
  );
  const items = await allItems(instance);
  for (const id of acknowledged) assert.ok(items.has(id), `${id} was acknowledged and is lost`);
  const service = { ...instance, connection: { url: '' } } as unknown as TestService;
  for (const item of items.values()) {
    if (item.uploadStatus !== 'ready') continue;
    for (const { url, reply } of await fetchAll(service, item.streamingUrl)) {
      assert.equal(reply.status, 200, url);
    }
  }
}

/** No pending work, no unreferenced upload files, no folders of failed attempts. */
async function assertTidy(instance: Instance): Promise<void> {
  let seen = '';
  const isTidy = async () => {
    // An upload that was stored but not acknowledged before a kill may be processed only now.
    const items = [...(await allItems(instance)).values()];
    const count = (status: string) => items.filter((one) => one.uploadStatus === status).length;
    const [objects, work, trash] = await Promise.all([
      storedFiles(instance, 'objects'),
      storedFiles(instance, 'work'),
      storedFiles(instance, 'trash'),
    ]);
    const ready = count('ready');
    const withBytes = ready + count('error');
    seen = `${ready} ready, ${withBytes} with bytes: ${JSON.stringify({ objects, work, trash })}`;
    const sources = objects.filter((file) => file.startsWith('sources/')).length;
    const folders = new Set(
      objects
        .filter((file) => file.startsWith('media/'))
        .map((file) => file.split('/').slice(0, 3).join('/')),
    );
    const isClean = work.length + trash.length === 0;
    return isClean && sources === withBytes && folders.size === ready ? true : null;
  };
  await eventually('leftovers to go', isTidy, 60_000).catch((error: unknown) => {
    throw new Error(seen, { cause: error });
  });
}

const kills = scaled(2, 20);

const onlyLinux = { skip: isLinux ? false : 'reads /proc, which this system does not have' };

test(
  `${kills} kills at random moments lose nothing and leave nothing stuck`,
  onlyLinux,
  async (t: TestContext) => {
    const seed = Number(process.env['REELFEED_TEST_SEED'] ?? randomInt(2 ** 31));
    t.diagnostic(`REELFEED_TEST_SEED=${seed}`);
    const random = seededRandom(seed);
    const journal: Journal = { acknowledged: new Set(), refusals: new Set() };
    const struck: string[] = [];
    let instance = await startInstance(await temporaryFolder());
    // On a busy machine, most kills precede the acknowledgement of an upload, so more are needed.
    while (struck.length < kills || journal.acknowledged.size < kills / 2) {
      const stopping = new AbortController();
      const uploading = upload(instance, journal, stopping.signal);
      await pause(50 + random() * 900, 'the kill comes at any moment');
      const kind = kinds[Math.floor(random() * kinds.length)] ?? 'service';
      if (await strike(instance, kind)) struck.push(kind);
      // Events sent during recovery must be either rejected or kept, too.
      await pause(random() * 200, 'more is sent meanwhile');
      stopping.abort();
      await uploading;
      instance = await recover(instance);
    }
    t.diagnostic(`killed: ${struck.join(' ')}; acknowledged: ${journal.acknowledged.size}`);
    const unexpected = [...journal.refusals].filter((status) => status !== 503);
    assert.deepEqual(unexpected, [], 'only 503 while the database is away');
    await assertAllSettled(instance, journal);
    await stopInstance(instance);
    instance = await restartInstance(instance);
    await assertAllSettled(instance, journal);
    await assertTidy(instance);
    await stopInstance(instance);
    assert.deepEqual(
      (await serviceProcesses(instance.process.pid, instance.dataDir)).all.slice(1),
      [],
    );
  },
);

test('a second service on the same data directory is rejected with a clear sentence', async () => {
  const first = await startInstance(await temporaryFolder());
  const second = startMain({ env: { PORT: '0', REELFEED_DATA_DIR: first.dataDir } });
  const { code, stdout, stderr } = await second.ended;
  assert.equal(code, 1);
  assert.match(stderr, /in use|already|another/i);
  assert.ok(stderr.trim().split('\n').length <= 2, stderr);
  assert.doesNotMatch(stderr, /\n\s+at /, 'no stack');
  assert.doesNotMatch(stdout, /ready/);
  assert.equal((await first.call('GET', '/v1/content')).status, 200);
  await stopInstance(first);
});

test('SIGTERM lets an upload finish, interrupts processing, exits with 0, and a restart continues', async () => {
  let instance = await startInstance(await temporaryFolder());
  const processing = await instance.call('POST', '/v1/content/upload', {
    body: form([
      ['title', 'Processing'],
      ['file', await sampleBytes('landscape.mp4')],
    ]),
  });
  assert.equal(processing.status, 201);
  const { id } = processing.body.data;
  await eventually('processing to begin', async () => {
    const { body } = await instance.call('GET', `/v1/content/${id}`);
    return body.data.uploadStatus === 'pending' ? null : true;
  });
  const made = await instance.call('POST', '/v1/content/upload', { body: { title: 'Slow' } });
  const slow = fetch(instance.url + new URL(made.body.data.uploadUrl).pathname, {
    method: 'PUT',
    duplex: 'half',
    body: new ReadableStream({
      async start(controller) {
        const half = clip.length >> 1;
        controller.enqueue(clip.subarray(0, half));
        await pause(2_500, 'the client is slow');
        controller.enqueue(clip.subarray(half));
        controller.close();
      },
    }),
  } as RequestInit);
  await pause(400, 'half of the upload arrives');
  const stopping = stopInstance(instance);
  await eventually('new requests to be refused', async () => {
    const reply = await instance.call('GET', '/v1/content').catch(() => null);
    return reply === null || reply.status === 503 ? true : null;
  });
  assert.equal((await slow).status, 200, 'the upload under way was finished');
  await stopping;
  instance = await restartInstance(instance);
  const journal = { acknowledged: new Set([id, made.body.data.id]), refusals: new Set<number>() };
  await assertAllSettled(instance, journal);
  for (const item of (await allItems(instance)).values()) assert.equal(item.uploadStatus, 'ready');
  await stopInstance(instance);
});

test('SIGTERM does not wait forever for a stalled upload', async () => {
  const grace = { REELFEED_SHUTDOWN_GRACE: '1s' };
  let instance = await startInstance(await temporaryFolder(), grace);
  const made = await instance.call('POST', '/v1/content/upload', { body: { title: 'Stuck' } });
  const pathname = new URL(made.body.data.uploadUrl).pathname;
  const stuck = fetch(instance.url + pathname, {
    method: 'PUT',
    duplex: 'half',
    body: new ReadableStream({
      start: (controller) => controller.enqueue(clip.subarray(0, 9_000)),
    }),
  } as RequestInit).then(
    ({ status }) => status,
    () => 0,
  );
  await pause(400, 'a part of the upload arrives');
  const startedAt = performance.now();
  await stopInstance(instance);
  assert.ok(performance.now() - startedAt < 15_000);
  assert.notEqual(await stuck, 200);
  instance = await restartInstance(instance);
  const item = await instance.call('GET', `/v1/content/${made.body.data.id}`);
  assert.equal(item.body.data.uploadStatus, 'pending');
  const again = await send(instance.url + pathname, 'PUT', { body: clip });
  assert.equal(again.status, 200, 'its URL is still good');
  await stopInstance(instance);
});
