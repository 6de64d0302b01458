/** Proves that shipped deployment files reference only what exists. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { cp, mkdir, symlink } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { readConfig } from '../src/app/config.ts';
import { cloneDatabase } from './database.ts';
import { ready, startCommand, startMain } from './processes.ts';
import { send, temporaryFolder, toUrl } from './service.ts';

const at = (name: string) => fileURLToPath(new URL(`../../${name}`, import.meta.url));
const read = (name: string) => readFileSync(at(name), 'utf8');

/** Names in PromQL that are neither functions nor labels. */
function metricsIn(expression: string): string[] {
  const bare = expression.replaceAll(/\{[^}]*\}|\[[^\]]*\]|\b(?:by|without) \([^)]*\)/g, ' ');
  return [...bare.matchAll(/\b[a-z]+_[a-z_]+\b(?!\s*\()/g)].map(([name]) => name);
}

test('every metric of the dashboard and of the alert rules is provided by the service', async () => {
  const running = startMain({
    env: {
      PORT: '0',
      DATABASE_URL: toUrl(await cloneDatabase()),
      REELFEED_DATA_DIR: await temporaryFolder(),
      REELFEED_LOG_LEVEL: 'error',
    },
  });
  const { text } = await send(`${await ready(running)}/metrics`, 'GET');
  const families = [...text.matchAll(/^# TYPE (\S+) (\S+)/gm)].flatMap(([, name = '', type]) =>
    type === 'histogram' ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name],
  );
  const dashboard: { panels: { title: string; targets: { expr: string }[] }[] } = JSON.parse(
    read('deploy/grafana-dashboard.json'),
  );
  const rules = read('deploy/alerts.yml').split('- alert:').slice(1);
  const expressions = [
    ...dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
    ...rules.map((rule) => /expr:(.*?)\n {8}for:/s.exec(rule)?.[1] ?? ''),
  ];
  assert.equal(expressions.filter((one) => one.trim() === '').length, 0);
  const used = new Set(expressions.flatMap(metricsIn));
  assert(used.size > 10, [...used].join(' '));
  assert.deepEqual(
    [...used].filter((name) => !families.includes(name)),
    [],
  );
});

test('the image copies what exists, leaves out tests, and runs as an unprivileged user', () => {
  const lines = read('Dockerfile').split('\n');
  const copied = lines
    .filter((line) => line.startsWith('COPY ') && !line.includes('--from'))
    .flatMap((line) => line.split(' ').slice(1, -1));
  assert(copied.length > 8);
  for (const name of copied) assert(existsSync(at(name)), name);
  const user = lines.findIndex((line) => line.startsWith('USER reelfeed'));
  assert(user > 0 && user < lines.findIndex((line) => line.startsWith('ENTRYPOINT')));
  const workspaces: { workspaces: string[] } = JSON.parse(read('package.json'));
  for (const name of workspaces.workspaces) assert(copied.includes(`${name}/package.json`), name);
});

/** The files that the image's stages copy from the repository, as pairs of source and target. */
const stages = read('Dockerfile')
  .split(/^FROM /m)
  .slice(1)
  .map((stage) =>
    [...stage.matchAll(/^COPY (?!--from)(.+) (\S+)$/gm)].flatMap(([, names = '', target = '']) =>
      names.split(' ').map((name) => [name, target] as const),
    ),
  );

/** Copies like Docker: a file into a folder, or a folder's content. */
async function copyStage(stage: (typeof stages)[number], into: string): Promise<void> {
  const isIgnored = (name: string) => /node_modules|\.test\.ts$/.test(path.relative(at(''), name));
  for (const [name, target] of stage) {
    const isFolder = statSync(at(name)).isDirectory();
    const to = path.join(into, target, isFolder ? '' : path.basename(name));
    await mkdir(path.dirname(to), { recursive: true });
    await cp(at(name), to, { recursive: true, filter: (from) => !isIgnored(from) });
  }
}

test('the packages of the image install from the files copied by its first stage', async () => {
  const folder = await temporaryFolder();
  await copyStage(stages[0] ?? [], folder);
  assert.match(read('Dockerfile'), /^RUN npm ci --omit=dev$/m);
  // Checking that manifests and the lock file agree needs no download.
  const options = ['--dry-run', '--offline', '--ignore-scripts', '--no-audit', '--no-fund'];
  await promisify(execFile)('npm', ['ci', '--omit=dev', ...options], { cwd: folder });
});

test('what the image holds starts with its own database, serves its pages, is healthy and stops', async () => {
  const folder = await temporaryFolder();
  await copyStage(stages[1] ?? [], folder);
  await linkPackages(folder);
  const dockerfile = read('Dockerfile');
  const list = (name: string) =>
    JSON.parse(new RegExp(`^${name} (\\[.*\\])$`, 'm').exec(dockerfile)?.[1] ?? '[]') as string[];
  const [, launcher = '', ...args] = [...list('ENTRYPOINT'), ...list('CMD')];
  const running = startCommand(args, {
    launcher: path.join(folder, launcher),
    cwd: folder,
    env: {
      PORT: '0',
      REELFEED_DATA_DIR: path.join(folder, 'data'),
      REELFEED_LOG_LEVEL: 'error',
      REELFEED_MIN_FREE_BYTES: '0',
    },
  });
  const url = await ready(running);
  for (const page of ['/feed', '/console/', '/docs/', '/docs/reference/']) {
    assert.equal((await send(url + page, 'GET')).status, 200, page);
  }
  const [command = '', ...check] = list('HEALTHCHECK --start-period=60s CMD');
  assert.equal(command, 'node');
  await promisify(execFile)(process.execPath, check, { env: { PORT: new URL(url).port } });
  running.child.kill('SIGTERM');
  const { code, stderr } = await running.ended;
  assert.deepEqual([code, stderr], [0, '']);
});

/** Links the packages that `npm ci --omit=dev` would install to the local ones. */
async function linkPackages(folder: string): Promise<void> {
  const { packages } = JSON.parse(read('package-lock.json')) as {
    packages: Record<string, { dev?: boolean; link?: boolean; resolved?: string }>;
  };
  for (const [place, { dev, link, resolved = '' }] of Object.entries(packages)) {
    if (!/^node_modules\/(@[^/]+\/)?[^/]+$/.test(place) || dev === true) continue;
    const from = link === true ? path.join(folder, resolved) : at(place);
    // Packages for other platforms are missing in both.
    if (!existsSync(from)) continue;
    await mkdir(path.dirname(path.join(folder, place)), { recursive: true });
    await symlink(from, path.join(folder, place));
  }
}

/**
 * The settings that the unit may use. Systemd, which would check them, is not available in tests.
 */
const unitKeys: Readonly<Record<string, readonly string[]>> = {
  Unit: ['Description', 'After', 'Wants', 'StartLimitIntervalSec'],
  Service: [
    ...[
      'User',
      'WorkingDirectory',
      'Environment',
      'EnvironmentFile',
      'ExecStart',
      'ExecReload',
      'Restart',
    ],
    ...[
      'RestartSec',
      'KillMode',
      'OOMPolicy',
      'TimeoutStopSec',
      'LimitNOFILE',
      'StateDirectory',
      'NoNewPrivileges',
      'PrivateTmp',
    ],
    ...['ProtectSystem', 'ProtectHome'],
  ],
  Install: ['WantedBy'],
};

test('the unit starts the launcher, writes only where permitted, and waits until the service has stopped', () => {
  const unit = new Map<string, string[]>();
  let section = '';
  for (const line of read('deploy/reelfeed.service').split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    section = /^\[(\w+)\]$/.exec(line)?.[1] ?? section;
    if (line.startsWith('[')) continue;
    const [, key = '', value = ''] = /^(\w+)=(.*)$/.exec(line) ?? [];
    assert(unitKeys[section]?.includes(key), `[${section}] ${line}`);
    unit.set(key, [...(unit.get(key) ?? []), value]);
  }
  const one = (key: string) => unit.get(key)?.[0] ?? '';
  const installed = `${one('WorkingDirectory')}/`;
  const [program = '', ...args] = one('ExecStart').split(' ');
  assert(program.startsWith(installed), program);
  const launcher = at(program.slice(installed.length));
  assert(statSync(launcher).mode & 0o111, 'it can be executed');
  assert.match(readFileSync(launcher, 'utf8'), /^#!\/usr\/bin\/env node\n/);
  assert.deepEqual(args, ['start']);
  const env = Object.fromEntries((unit.get('Environment') ?? []).map((pair) => pair.split('=')));
  const { shutdownGraceMs } = readConfig(env);
  assert.equal(env['REELFEED_DATA_DIR'], `/var/lib/${one('StateDirectory')}`);
  assert.equal(one('ProtectSystem'), 'strict');
  assert(Number(one('TimeoutStopSec')) * 1_000 > shutdownGraceMs + 50_000, 'grace and drain');
  assert.equal(one('KillMode'), 'mixed', 'SIGTERM must not reach the database');
  assert.equal(one('OOMPolicy'), 'continue');
  assert.equal(one('Restart'), 'always');
  assert.equal(one('StartLimitIntervalSec'), '0');
  assert.equal(one('User'), 'reelfeed');
});
