/**
 * Proves that the commands in the guides work exactly as written: only the service's address, keys
 * and folders are filled in. `events.md`, `journeys.md`, `ten-questions.md`, `webhooks.md`,
 * `content.sh` and the programs of `apps.md` have their own tests; `npm start` is covered by
 * `first-minute.test.ts`, `npm run demo` by `demo.test.ts`.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { readyItem } from './media.ts';
import { fingerprint, record } from '../../site/fingerprint.ts';
import { mediaSample } from './media-samples.ts';
import { eventually, startService, temporaryFolder, toUrl } from './service.ts';

const docs = fileURLToPath(new URL('../../docs/', import.meta.url));
const read = (name: string) => readFileSync(path.join(docs, name), 'utf8');
const service = await startService();
const cwd = await temporaryFolder();

/** A guide's command blocks with this service's values. */
function commandsOf(name: string): string[] {
  return [...read(name).matchAll(/```sh\n([^]*?)```/g)].map(([, block = '']) =>
    block
      .replaceAll('http://localhost:4000', service.url)
      .replaceAll('rf_sk_...', service.secretKey)
      .replaceAll('rf_pk_...', service.publishableKey),
  );
}

/** Runs commands in one shell, which stops at the first failure or error response. */
async function run(commands: readonly string[], env: Record<string, string> = {}): Promise<string> {
  const strict = 'set -eu\ncurl() { command curl -sS --fail-with-body "$@"; }\n';
  const { stdout } = await promisify(execFile)('sh', ['-c', strict + commands.join('\n')], {
    cwd,
    timeout: 300_000,
    env: {
      PATH: process.env['PATH'],
      SECRET_KEY: service.secretKey,
      PUBLISHABLE_KEY: service.publishableKey,
      ...env,
    },
  });
  return stdout;
}

test('the quick start leads from an upload to a report that includes the viewer', async () => {
  await copyFile(await mediaSample('small.mp4'), path.join(cwd, 'clip.mp4'));
  const [start = '', ...commands] = commandsOf('quick-start.md');
  assert.equal(start.trim(), 'npm ci && npm start');
  const output = await run(commands);
  assert.match(output, /"title":"My first clip".*"streamingUrl":"http/);
  assert.match(output, /"received":3,"failed":0/);
  assert.match(output, /"plays":1/);
});

test('the commands about ranking, reports and keys work as written', async () => {
  const { id } = await readyItem(service, 'small.mp4', { tags: ['summer'] });
  const values = { ID: id, CONTENT_ID: id, URL: service.url, KEY: service.secretKey };
  const [feed = '', learn = '', config = '', learned = '', ...rest] = commandsOf('ranking.md');
  assert.deepEqual(rest, []);
  assert.match(await run([feed]), /"ranking":\{"score"/);
  assert.match(await run([learn], values), new RegExp(id));
  assert.match(await run([config]), /"recencyHalfLifeHours":12/);
  assert.match(await run([learned]), /"objective":"learned"/);
  assert.match(
    await run(commandsOf('content.md'), { ...values, REELFEED: service.url }),
    /"data":\[/,
  );
  assert.match(await run(commandsOf('analytics.md'), values), /"cohorts"/);
  assert.match(await run(commandsOf('keys.md'), values), /"key":"rf_sk_/);
});

test('the five minutes of each role lead to what they promise', async () => {
  await copyFile(await mediaSample('small.mp4'), path.join(cwd, 'clip.mp4'));
  assert.match(
    await run(commandsOf('editor.md')),
    /"title":"Monday in two minutes".*"type":"pin"/s,
  );
  await readyItem(service, 'small.mp4', {});
  assert.match(await run(commandsOf('app-developer.md')), /"streamingUrl":"http.*"received":true/s);
  assert.match(await run(commandsOf('analyst.md')), /"completionRate".*"dataset":"events"/s);
  const [ask = ''] = commandsOf('operator.md');
  assert.match(await run([ask]), /\d{2,}\n$/);
});

test('the commands of the guide create and download an export', async () => {
  const [create = '', download = '', schedule = '', ...rest] = commandsOf('exports.md');
  assert.deepEqual(rest, []);
  const made = JSON.parse(await run([create]));
  const { id } = made.data;
  await eventually('the export', async () => {
    const { body } = await service.call('GET', `/v1/exports/${id}`);
    return body.data.status === 'ready' ? true : null;
  });
  await run([download], { REELFEED: service.url, EXPORT_ID: id });
  assert.ok(existsSync(path.join(cwd, 'events.parquet')));
  const keys = { REELFEED: service.url, SECRET_KEY: service.secretKey };
  assert.match(await run([schedule], keys), /"nextDate"/);
});

test('the commands of the guide create, verify and restore a backup', async () => {
  const all = commandsOf('operations.md');
  const backup = all.find((block) => block.includes('reelfeed backup')) ?? '';
  const doctor = all.find((block) => block.includes('reelfeed doctor')) ?? '';
  const folder = path.join(cwd, 'backup');
  const program = fileURLToPath(new URL('../bin/reelfeed.js', import.meta.url));
  const filledIn = (block: string) =>
    block
      .replaceAll('/backups/reelfeed', folder)
      .replaceAll('REELFEED_DATA_DIR=/srv/new', `DATABASE_URL= REELFEED_DATA_DIR=${folder}-new`)
      .replaceAll('npx reelfeed', `node --disable-warning=ExperimentalWarning ${program}`);
  const env = {
    DATABASE_URL: toUrl(service.connection),
    REELFEED_DATA_DIR: service.dataDir,
    REELFEED_MIN_FREE_BYTES: '0',
    REELFEED_ACCEPT_UNSAFE_DATABASE: 'fsync,full_page_writes,synchronous_commit',
  };
  await run([filledIn(backup)], env);
  assert.ok(existsSync(path.join(folder, 'objects', 'repository.json')));
  assert.ok(existsSync(path.join(`${folder}-new`, 'media')));
  assert.match(await run([filledIn(doctor)], env), /migrations/i);
});

test('the commands of the README lead from the start to an upload, in one step and in two', async () => {
  await copyFile(await mediaSample('small.mp4'), path.join(cwd, 'clip.mp4'));
  const [start = '', report = '', upload = '', read = '', twoSteps = '', ...rest] =
    commandsOf('../README.md');
  assert.deepEqual(rest, []);
  const first = ['npm ci && npm start', 'npm run demo', 'npx reelfeed doctor'];
  assert.deepEqual(start.trim().split('\n'), first);
  assert.match(await run([report]), /"plays":/);
  assert.match(await run([upload]), /"title":"My first clip"/);
  assert.match(await run([read]), /"title":"My first clip"/);
  const [create = '', put = ''] = twoSteps.split(/\n(?=curl -T)/);
  const { uploadUrl } = JSON.parse(await run([create])).data;
  const { pathname, search } = new URL(uploadUrl);
  const address = `${service.url}${pathname}${search}`;
  assert.match(await run([put.replace(`${service.url}/v1/uploads/...`, address)]), /"Two steps"/);
});

test('the commands of the guide invite people', async () => {
  const program = fileURLToPath(new URL('../bin/reelfeed.js', import.meta.url));
  const env = {
    DATABASE_URL: toUrl(service.connection),
    REELFEED_DATA_DIR: service.dataDir,
    REELFEED_ACCEPT_UNSAFE_DATABASE: 'fsync,full_page_writes,synchronous_commit',
    URL: service.url,
    KEY: service.secretKey,
  };
  const [byCommand = '', byKey = ''] = commandsOf('people.md');
  const launched = `node --disable-warning=ExperimentalWarning ${program}`;
  assert.match(await run([byCommand.replaceAll('npx reelfeed', launched)], env), /#\/invitation\//);
  assert.match(await run([byKey], env), /"url":"http/);
});

test('the commands of the guide lead from a custom metric to a rollout', async () => {
  const output = await run(commandsOf('own-metrics.md'));
  assert.match(output, /"name":"revenue"/);
  assert.match(output, /"variantId":"(control|large)"/);
  assert.match(output, /"received":true/);
  assert.match(output, /"correction":"holm"/);
  assert.match(output, /part,segment,date,variant/);
  assert.match(output, /shared\/experiments\/shr_/);
  assert.match(output, /"status":"stopped".*"winner":"large"/);
  const { body } = await service.call('GET', '/v1/settings/shop.button');
  assert.equal(body.data.value, 'large');
});

test('the command of the guide creates a live stream', async () => {
  const [, create = ''] = commandsOf('live.md');
  const made = await run([create], { REELFEED_SECRET_KEY: service.secretKey });
  assert.match(made, /"reconnectWindow":60/);
  assert.match(made, /"streamKey":"/);
});

test('the commands given to contributors exist', () => {
  const { scripts } = JSON.parse(read('../package.json')) as { scripts: Record<string, string> };
  for (const line of commandsOf('../CONTRIBUTING.md').join('').trim().split('\n')) {
    const [, isRun, name = ''] = /^npm (run )?([\w:]+)/.exec(line) ?? [];
    assert.ok(name === 'ci' || (scripts[name] !== undefined && (isRun ?? name)), line);
  }
});

test('the client is built and packed under the name that its guides install', () => {
  const guides = ['../client/README.md', 'apps.md'].map((name) => commandsOf(name).join(''));
  const { scripts, version } = JSON.parse(read('../client/package.json')) as {
    scripts: Record<string, string>;
    version: string;
  };
  assert.ok(scripts['build'] !== undefined);
  for (const all of guides) {
    assert.ok(all.includes('npm run build -w client'));
    // client/package.test.ts installs it.
    assert.ok(all.includes(`npm install ./reelfeed-client-${version}.tgz`));
  }
});

test('the player is packed under the name that its guide installs', () => {
  const { version } = JSON.parse(read('../player/package.json')) as { version: string };
  const all = commandsOf('player.md').join('');
  // player-frameworks.test.ts installs it.
  assert.match(all, /^npm pack \.\/player /m);
  assert.ok(all.includes(`/reelfeed-player-${version}.tgz`));
});

test('the commands for systemd and Docker name what the repository has', () => {
  const all = commandsOf('operations.md').join('');
  const [, unit = '', place] = /cp (\S+) (\S+)/.exec(all) ?? [];
  assert.match(read(`../${unit}`), /^WantedBy=/m);
  assert.equal(place, '/etc/systemd/system/');
  assert.match(all, new RegExp(`enable --now ${path.basename(unit, '.service')}\n`));
  const user = /useradd --system --home-dir (\S+) (\S+)/.exec(all);
  assert.match(read(`../${unit}`), new RegExp(`^User=${user?.[2]}$`, 'm'));
  const dockerfile = read('../Dockerfile');
  const [, port, volume] = /docker run -p \d+:(\d+) -v \w+:(\S+) reelfeed/.exec(all) ?? [];
  assert.match(dockerfile, new RegExp(`^EXPOSE ${port}$`, 'm'));
  assert.match(dockerfile, new RegExp(`^VOLUME ${volume}$`, 'm'));
});

test('a test runs the commands of every file that has any', () => {
  const files = globSync(['*.md', 'docs/**/*.md', 'client/*.md'], { cwd: path.join(docs, '..') });
  const withCommands = files.filter((name) => /^```(sh|bash|console)$/m.test(read(`../${name}`)));
  assert.deepEqual(withCommands.toSorted(), [
    'CONTRIBUTING.md',
    'README.md',
    'client/README.md',
    'docs/analyst.md',
    'docs/analytics.md',
    'docs/app-developer.md',
    'docs/apps.md',
    'docs/content.md',
    'docs/editor.md',
    'docs/events.md',
    'docs/exports.md',
    'docs/journeys.md',
    'docs/keys.md',
    'docs/live.md',
    'docs/operations.md',
    'docs/operator.md',
    'docs/own-metrics.md',
    'docs/people.md',
    'docs/player.md',
    'docs/quick-start.md',
    'docs/ranking.md',
    'docs/react-native.md',
    'docs/ten-questions.md',
    'docs/webhooks.md',
  ]);
});

test('the index lists every guide, and no link in a guide is broken', () => {
  const names = globSync('*.md', { cwd: docs });
  const index = read('README.md');
  for (const name of names) {
    if (name !== 'README.md') assert.ok(index.includes(`(${name})`), `${name} is not in the index`);
    for (const [, target = ''] of read(name).matchAll(/\]\((?!https?:|#)([^)#]+)/g)) {
      assert.ok(existsSync(path.join(docs, target)), `${name} links to ${target}`);
    }
  }
});

test('the built site matches these guides; build it by `npm run build:site`', () => {
  assert.equal(readFileSync(record, 'utf8').trim(), fingerprint());
});
