/**
 * Proves that the published package can be used: with plain tsc, with a bundler, and in the Node
 * versions on this machine's path.
 */
import { strict as assert } from 'node:assert';
import { execFile } from 'node:child_process';
import { glob, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { mediaSample } from '../server/test/media-samples.ts';
import { createItem } from '../server/test/seed.ts';
import { startService } from '../server/test/service.ts';
import { buildClient } from './build.ts';
import { newerNamesIn, oldestTargets } from './newer-names.ts';

const run = promisify(execFile);
let folder = '';

/** An empty project with the packed client as its only dependency. */
before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'reelfeed-consumer-'));
  const dist = path.join(folder, 'dist');
  await buildClient(dist);
  const packed = await run('npm', ['pack', '--json', '--pack-destination', folder], { cwd: dist });
  const [{ filename }]: [{ filename: string }] = JSON.parse(packed.stdout);
  const project = path.join(folder, 'project');
  await mkdir(project);
  await writeFile(path.join(project, 'package.json'), '{ "name": "consumer", "type": "module" }');
  const options = ['--offline', '--no-audit', '--no-fund', '--ignore-scripts'];
  await run('npm', ['install', ...options, path.join(folder, filename)], { cwd: project });
});
after(() => rm(folder, { recursive: true, force: true }));

const example = `
import { createReelfeed, EventSender, type FeedItem } from '@reelfeed/client';
import { createAdmin, verifyWebhook, ReelfeedError } from '@reelfeed/client/server';

const baseUrl = 'http://127.0.0.1:1';
const reelfeed = createReelfeed({ baseUrl, publishableKey: 'rf_pk_x', maxRetries: 0 });
const titles = async (): Promise<string[]> => {
  const items: FeedItem[] = [];
  for await (const item of reelfeed.feedItems({ limit: 5 })) items.push(item);
  return items.map(({ title }) => title);
};
const admin = createAdmin({ baseUrl, secretKey: 'rf_sk_x', maxRetries: 0 });
const rename = async (id: string, title: string): Promise<string> => {
  const { data } = await admin.patch('/v1/content/{id}', { path: { id }, body: { title } });
  return data.title;
};
const error: unknown = await rename('a', 'b').catch((reason: unknown) => reason);
const code = error instanceof ReelfeedError ? error.code : 'none';
console.log([code, typeof verifyWebhook, typeof EventSender, typeof titles].join(' '));
`;

test('plain tsc compiles a project that uses it, strictly, and rejects a wrong call', async () => {
  const project = path.join(folder, 'project');
  const compiler = fileURLToPath(new URL('../bin/tsc', import.meta.resolve('typescript')));
  const options = ['--strict', '--module', 'nodenext', '--target', 'es2022', '--lib', 'es2022,dom'];
  const check = (file: string) =>
    run(process.execPath, [compiler, '--noEmit', ...options, file], { cwd: project });
  await writeFile(path.join(project, 'example.ts'), example);
  await check('example.ts');
  await writeFile(
    path.join(project, 'wrong.ts'),
    example.replace('body: { title }', 'body: { titel: title }'),
  );
  await assert.rejects(check('wrong.ts'), (error: { stdout?: string }) =>
    /titel/.test(error.stdout ?? ''),
  );
});

test('it runs in Node as it was installed', async () => {
  const project = path.join(folder, 'project');
  const script = path.join(project, 'example.js');
  const { code } = await build({
    entryPoints: [path.join(project, 'example.ts')],
    write: false,
    format: 'esm',
  }).then(({ outputFiles }) => ({ code: outputFiles[0]?.text ?? '' }));
  await writeFile(script, code);
  const { stdout } = await run(process.execPath, [script], { cwd: project });
  assert.equal(stdout.trim(), 'NETWORK_ERROR function function function');
});

/** The executable of each major version from 20 on: that of this test and those on the path. */
async function nodes(): Promise<Map<string, string>> {
  const { stdout } = await run('which', ['-a', 'node']).catch(() => ({ stdout: '' }));
  const found = new Map<string, string>();
  for (const program of [process.execPath, ...stdout.trim().split('\n').filter(Boolean)]) {
    const version =
      (await run(program, ['--version'])).stdout.replace(/^v/, '').split('.')[0] ?? '';
    if (Number(version) >= 20 && !found.has(version)) found.set(version, program);
  }
  return found;
}

const everything = `
import { readFileSync } from 'node:fs';
import { createReelfeed, EventSender } from '@reelfeed/client';
import { upload } from '@reelfeed/client/upload';
const { exports } = JSON.parse(readFileSync('node_modules/@reelfeed/client/package.json', 'utf8'));
for (const name of Object.keys(exports)) await import('@reelfeed/client' + name.slice(1));
const { BASE_URL: baseUrl, KEY: publishableKey, CONTENT: contentId, UPLOAD: uploadUrl } = process.env;
const service = { baseUrl, publishableKey };
const events = new EventSender({ ...service, userId: 'ada' });
events.track({ event: 'like', contentId });
await events.flush();
const signal = AbortSignal.abort(new Error('enough'));
const stopped = await events.flush(signal).catch(({ message }) => message);
const { items } = await createReelfeed(service).feed({ limit: 2 });
await upload(new Blob([readFileSync(process.env.CLIP)]), { uploadUrl });
await events.close();
console.log(JSON.stringify({ ...events.counts, stopped, items: items.length }));
`;

test('all of it runs in each version of Node, against a service', async (context) => {
  const project = path.join(folder, 'project');
  await writeFile(path.join(project, 'everything.js'), everything);
  const service = await startService({ REELFEED_ROLES: 'api' });
  for (const [version, program] of await nodes()) {
    const item = await createItem(service);
    const env = {
      BASE_URL: service.url,
      KEY: service.publishableKey,
      CONTENT: item.id,
      UPLOAD: item.uploadUrl,
      CLIP: await mediaSample('small.mp4'),
    };
    const { stdout } = await run(program, ['everything.js'], { cwd: project, env });
    const expected = {
      waiting: 0,
      received: 1,
      refused: 0,
      dropped: 0,
      stopped: 'enough',
      items: 0,
    };
    assert.deepEqual(JSON.parse(stdout), expected, `Node ${version}`);
    context.diagnostic(`ran in Node ${version}`);
  }
  for (const version of ['20', '22', '24']) {
    if (!(await nodes()).has(version)) context.diagnostic(`no Node ${version} on the path`);
  }
});

test('every export has its file and its types, and uses nothing newer than promised', async () => {
  const project = path.join(folder, 'project');
  const installed = path.join(project, 'node_modules/@reelfeed/client');
  const { exports } = JSON.parse(await readFile(path.join(installed, 'package.json'), 'utf8'));
  const lines = Object.keys(exports).map(
    (name, index) => `import * as part${index} from '@reelfeed/client${name.slice(1)}';`,
  );
  const names = Object.keys(exports).map((_name, index) => `part${index}`);
  await writeFile(
    path.join(project, 'exports.ts'),
    `${lines.join('\n')}\nconsole.log(${names.join(', ')});`,
  );
  const compiler = fileURLToPath(new URL('../bin/tsc', import.meta.resolve('typescript')));
  const options = ['--strict', '--module', 'nodenext', '--target', 'es2022', '--lib', 'es2022,dom'];
  await run(process.execPath, [compiler, '--noEmit', ...options, 'exports.ts'], { cwd: project });
  for await (const file of glob('*.js', { cwd: installed })) {
    const script = await readFile(path.join(installed, file), 'utf8');
    assert.deepEqual(await newerNamesIn(script), [], file);
  }
});

test('a bundler makes a browser file of at most 8 kB, compressed', async () => {
  const project = path.join(folder, 'project');
  const entry = path.join(project, 'browser.js');
  await writeFile(
    entry,
    `export { createReelfeed, EventSender, localEventStorage } from '@reelfeed/client';
     export { upload } from '@reelfeed/client/upload';`,
  );
  const outfile = path.join(project, 'bundle.js');
  await build({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: oldestTargets,
    outfile,
  });
  const bytes = gzipSync(await readFile(outfile)).length;
  assert.ok(bytes <= 8_000, `${bytes} bytes`);
});
