/** Proves that others can install what is published: with plain tsc, in Node, and by a bundler. */
import { strict as assert } from 'node:assert';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { buildClient } from './build.ts';

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

test('plain tsc compiles a project that uses it, strictly, and refuses a wrong call', async () => {
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
    outfile,
  });
  const bytes = gzipSync(await readFile(outfile)).length;
  assert.ok(bytes <= 8_000, `${bytes} bytes`);
});
