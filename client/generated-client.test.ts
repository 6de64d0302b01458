/**
 * Proves that others can generate a client from `docs/openapi.json`: it has the names that a reader
 * expects, compiles strictly, and takes the quick start from an upload to a feed.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { mediaSample } from '../server/test/media-samples.ts';
import { startService, temporaryFolder } from '../server/test/service.ts';
import { typesFile } from './generate.ts';

const run = promisify(execFile);

const quickStart = `
import { readFile } from 'node:fs/promises';
import createClient from 'openapi-fetch';
import type { components, paths } from './api.ts';

type Content = components['schemas']['Content'];
type BulkJob = components['schemas']['BulkJob'];
type ApiError = components['schemas']['Error'];

const { BASE_URL: baseUrl = '', SECRET_KEY, PUBLISHABLE_KEY, CLIP = '' } = process.env;
const withKey = (key?: string) =>
  createClient<paths>({ baseUrl, headers: { authorization: \`Bearer \${key}\` } });
const admin = withKey(SECRET_KEY);
const player = withKey(PUBLISHABLE_KEY);

function data<T extends { data: unknown }>(answer: { data?: T; error?: ApiError }): T['data'] {
  if (answer.data === undefined) throw new Error(answer.error?.error.message);
  return answer.data.data;
}

const made = data(
  await admin.POST('/v1/content/upload', { body: { title: 'My first clip', tags: ['first'] } }),
);
await fetch(made.uploadUrl ?? '', { method: 'PUT', body: await readFile(CLIP) });
let item: Content;
do {
  await new Promise((resolve) => setTimeout(resolve, 200));
  item = data(await admin.GET('/v1/content/{id}', { params: { path: { id: made.id } } }));
  if (item.uploadStatus === 'error') throw new Error(item.errorReason?.message);
} while (item.uploadStatus !== 'ready');
await admin.PATCH('/v1/content/{id}', {
  params: { path: { id: made.id } },
  body: { publishStatus: 'published' },
});

const items = data(await player.GET('/v1/feed', { params: { query: { limit: 5 } } }));
await player.POST('/v1/events', {
  body: { event: 'playStart', contentId: made.id, userId: 'ada', data: { startupTime: 180 } },
});
const created = data(
  await admin.POST('/v1/content/bulk/jobs', {
    body: { operation: 'tag', filter: { tags: ['first'] }, update: { addTags: ['second'] } },
  }),
);
if (!('jobId' in created)) throw new Error('only a dry run has no job');
const job: BulkJob = data(
  await admin.GET('/v1/content/bulk/jobs/{id}', { params: { path: { id: created.jobId } } }),
);
const { error } = await player.GET('/v1/content/{id}', { params: { path: { id: made.id } } });
console.log(
  JSON.stringify({
    titles: items.map(({ title }) => title),
    items: job.totalItems,
    code: error?.error.code,
  }),
);
`;

test('a generated client compiles strictly and runs the quick start', async () => {
  const service = await startService();
  const folder = await temporaryFolder();
  await writeFile(path.join(folder, 'package.json'), '{ "type": "module" }');
  await copyFile(typesFile, path.join(folder, 'api.ts'));
  await writeFile(path.join(folder, 'quick-start.ts'), quickStart);
  const modules = new URL('../node_modules', import.meta.url);
  await symlink(fileURLToPath(modules), path.join(folder, 'node_modules'));

  const compiler = fileURLToPath(new URL('../bin/tsc', import.meta.resolve('typescript')));
  const options = ['--strict', '--module', 'nodenext', '--target', 'es2022', '--types', 'node'];
  const allowed = ['--noEmit', '--allowImportingTsExtensions', '--skipLibCheck'];
  await run(process.execPath, [compiler, ...options, ...allowed, 'quick-start.ts'], {
    cwd: folder,
  }).catch((error: { stdout?: string }) => assert.fail(error.stdout));

  const { stdout } = await run(process.execPath, ['quick-start.ts'], {
    cwd: folder,
    env: {
      BASE_URL: service.url,
      SECRET_KEY: service.secretKey,
      PUBLISHABLE_KEY: service.publishableKey,
      CLIP: await mediaSample('small.mp4'),
    },
  });
  assert.deepEqual(JSON.parse(stdout), {
    titles: ['My first clip'],
    items: 1,
    code: 'FORBIDDEN',
  });
});
