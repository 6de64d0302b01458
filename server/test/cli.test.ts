/** Proves every command of the command line as a process, with and without a running service. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { access, chmod, mkdir, readdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { ready, runCommand, startCommand, startMain, type Ended } from './processes.ts';
import { eventually, freePort, send, temporaryFolder } from './service.ts';

const folder = await temporaryFolder();
const dataDir = path.join(folder, 'data');
const env = {
  PORT: '0',
  REELFEED_DATA_DIR: dataDir,
  REELFEED_MIN_FREE_BYTES: '0',
  REELFEED_LOG_LEVEL: 'warn',
};
const reelfeed = (...args: string[]) => runCommand(args, { env });

function succeeded({ code, stdout, stderr }: Ended): string {
  assert.equal(code, 0, stdout + stderr);
  assert.equal(stderr, '');
  return stdout;
}

/**
 * Exited with `code` and one sentence or a usage text on stderr: no stack trace, nothing on stdout.
 */
function failed({ code, stdout, stderr }: Ended, expectedCode: number, message: RegExp): void {
  assert.equal(code, expectedCode, stdout + stderr);
  assert.match(stderr, message);
  assert.doesNotMatch(stderr, /^\s+at /m);
  assert.equal(stdout, '');
}

const isThere = (file: string) =>
  access(file).then(
    () => true,
    () => false,
  );

test('help lists every command under each of its names', async () => {
  const calls = [[], ['help'], ['--help'], ['-h']];
  const outputs = await Promise.all(calls.map(async (args) => succeeded(await reelfeed(...args))));
  for (const output of outputs) {
    assert.match(output, /^Usage: reelfeed <command>/);
    for (const name of ['start', 'demo', 'migrate', 'org', 'keys', 'doctor']) {
      assert.match(output, new RegExp(`^  ${name} +\\S`, 'm'));
    }
  }
});

test('mistyped commands exit with 2 and the usage, before anything is created', async () => {
  const wrong: [RegExp, ...string[]][] = [
    [/Unknown command "bogus"/, 'bogus'],
    [/Unknown command "constructor"/, 'constructor'],
    [/does not accept "now"/, 'start', 'now'],
    [/does not accept "x"/, 'doctor', 'x'],
    [/does not accept "x"/, 'migrate', 'status', 'x'],
    [/Usage: reelfeed migrate/, 'migrate', 'down'],
    [/Usage: reelfeed org/, 'org', 'create'],
    [/reelfeed keys list/, 'keys', 'create', '--type', 'admin', '--name', 'x'],
    [/--colour/, 'keys', 'list', '--colour'],
    [/--type/, 'keys', 'generate', '--type'],
  ];
  const next = wrong.values();
  const work = async () => {
    for (const [message, ...args] of next) failed(await reelfeed(...args), 2, message);
  };
  await Promise.all([work(), work(), work()]);
  assert.equal(await isThere(dataDir), false);
});

test('an invalid setting makes every command exit with 1 and lists all problems', async () => {
  const broken = {
    ...env,
    PORT: 'x',
    REELFEED_ROLES: 'web',
    REELFEED_ENCRYPTION_KEY_FILE: '/nowhere',
  };
  const commands = [['start'], ['keys', 'list']];
  const answers = await Promise.all([
    ...commands.map((args) => runCommand(args, { env: broken })),
    startMain({ env: broken }).ended,
  ]);
  for (const answer of answers) {
    failed(
      answer,
      1,
      /PORT: "x" is not valid.*\n.*REELFEED_ROLES: "web".*\n.*KEY_FILE: cannot read/,
    );
  }
  const { code, stdout } = await runCommand(['doctor', '--json'], { env: broken });
  assert.equal(code, 1);
  const { findings } = JSON.parse(stdout);
  assert.equal(findings[0].state, 'problem');
  assert.match(findings[0].detail, /PORT: "x"[^]*REELFEED_ROLES: "web"/);
  assert.equal(await isThere(dataDir), false);
});

test('an unreachable database makes every command exit with 1 and a clear line without the password', async () => {
  const url = `postgres://user:hunter2@127.0.0.1:${await freePort()}/db`;
  const away = { ...env, DATABASE_URL: url };
  const commands = [['start'], ['keys', 'list']];
  const answers = await Promise.all(commands.map((args) => runCommand(args, { env: away })));
  for (const answer of answers) {
    failed(answer, 1, /^Cannot reach PostgreSQL: .*ECONNREFUSED.*DATABASE_URL\.\n$/);
    assert.doesNotMatch(answer.stderr, /hunter2/);
  }
  const { code, stdout } = await runCommand(['doctor'], { env: away });
  assert.equal(code, 1);
  assert.match(stdout, /^PROBLEM Database +Cannot reach PostgreSQL: .*ECONNREFUSED/m);
  assert.match(stdout, /Problems found: 1\.\n$/);
  assert.doesNotMatch(stdout, /hunter2/);
});

test('an unusable data directory is reported, and not mistaken for a running service', async () => {
  const file = path.join(folder, 'file');
  await writeFile(file, '');
  const wrong = { ...env, REELFEED_DATA_DIR: file };
  for (const args of [['keys', 'list'], ['start']]) {
    failed(
      await runCommand(args, { env: wrong }),
      1,
      /file cannot be used: .*It must be a directory/,
    );
  }
});

test('doctor finds no problem before the first start, and creates nothing', async () => {
  const output = succeeded(await reelfeed('doctor'));
  assert.match(output, /^note {4}Data directory +.*will be created at the first start$/m);
  assert.match(output, /^ok {6}PostgreSQL +embedded 18/m);
  assert.match(output, /^ok {6}Media engine/m);
  assert.match(output, /No problems found\.\n$/);
  assert.equal(await isThere(dataDir), false);
});

test('generated keys are well-formed, also as JSON', async () => {
  const secret = succeeded(await reelfeed('keys', 'generate', '--type', 'secret'));
  assert.match(secret, /^rf_sk_[0-9A-Za-z]{49}\n$/);
  const { key } = JSON.parse(
    succeeded(await reelfeed('keys', 'generate', '--type=publishable', '--json')),
  );
  assert.match(key, /^rf_pk_[0-9A-Za-z]{49}$/);
});

test('without a running service: migrate, organizations and keys', async () => {
  for (const args of [
    ['keys', 'list'],
    ['org', 'list'],
    ['migrate'],
    ['migrate', 'status'],
    ['rebuild', 'all'],
  ]) {
    failed(await reelfeed(...args), 1, /^There is no database in .*REELFEED_DATA_DIR/);
  }
  assert.equal(await isThere(dataDir), false, 'only a start makes a database');
  const first = startMain({ env });
  await ready(first);
  first.child.kill('SIGTERM');
  await first.ended;
  const status = JSON.parse(succeeded(await reelfeed('migrate', 'status', '--json')));
  assert.deepEqual([status.pending, status.unknown], [[], []]);
  assert.match(succeeded(await reelfeed('migrate')), /^The database is up to date\.\n$/);
  assert.match(
    succeeded(await reelfeed('migrate', 'status')),
    /^applied: \d+\npending: none\nunknown to this version: none\n$/,
  );

  const created = JSON.parse(
    succeeded(await reelfeed('org', 'create', 'Müller', '&', 'Co', '--json')),
  );
  assert.match(created.organizationId, /^org_/);
  assert.match(created.secretKey, /^rf_sk_/);
  const second = succeeded(await reelfeed('org', 'create', 'Second'));
  assert.match(
    second,
    /^Organization +org_\S+\nSecret key +rf_sk_\S+\nPublishable key +rf_pk_\S+\n.*will not be shown again/,
  );
  const organizations = JSON.parse(succeeded(await reelfeed('org', 'list', '--json')));
  assert.deepEqual(
    organizations.map(({ name }: { name: string }) => name),
    ['My organization', 'Müller & Co', 'Second'],
  );
  assert.match(
    succeeded(await reelfeed('org', 'list')),
    /^org_\S+ {2}My organization\norg_\S+ {2}Müller & Co\norg_\S+ {2}Second\n$/,
  );

  failed(
    await reelfeed('keys', 'list'),
    2,
    /Choose an organization with --org <id>:\n +org_.*\n +org_.*Müller/,
  );
  const listed = succeeded(await reelfeed('keys', 'list', '--org', created.organizationId));
  assert.equal(listed.split('\n').length, 3);
  assert.ok(!listed.includes(created.secretKey));
});

/** Shared by tests that use a running service. */
const service = { url: '', secretKey: '', organizationId: '', stop: async () => {} };

test('start through the launcher prints keys once and warns of unknown variables', async () => {
  const own = path.join(folder, 'running');
  Object.assign(env, { REELFEED_DATA_DIR: own });
  const running = startCommand(['start'], { env: { ...env, REELFEED_PORT: '80' } });
  service.url = await ready(running);
  const { stdout, stderr: log } = running.output;
  service.secretKey = /Secret key +(rf_sk_\S+)/.exec(stdout)?.[1] ?? '';
  assert.match(stdout, /Publishable key +rf_pk_\S+\n.*will not be shown again/);
  const warning = log.split('\n').find((line) => line.includes('REELFEED_PORT'));
  assert.match(warning ?? '', /"level":"warn".*unknown environment variable/);
  const { status } = await send(`${service.url}/v1/keys`, 'GET', { key: service.secretKey });
  assert.equal(status, 200);
  service.stop = async () => {
    running.child.kill('SIGTERM');
    const { code, stderr } = await running.ended;
    assert.equal(code, 0, stderr);
    assert.doesNotMatch(stdout, /^\{/m);
    for (const line of stderr.trim().split('\n')) assert.equal(JSON.parse(line).level, 'warn');
  };
});

test('a second start on the same data directory or port exits with 1 and one sentence', async () => {
  const second = await startMain({ env }).ended;
  failed(
    second,
    1,
    /^The data directory \S+ is in use by process \d+ on \S+, .*\. Stop that.*\.\n$/,
  );
  const { port } = new URL(service.url);
  const other = { ...env, REELFEED_DATA_DIR: path.join(folder, 'other'), PORT: port };
  // Keys created by a failed start would never be shown again, so none are created.
  failed(
    await startMain({ env: other }).ended,
    1,
    new RegExp(`^Port ${port} on 127\\.0\\.0\\.1 is in use by another program\\. .*PORT\\.\n$`),
  );
  assert.equal(await isThere(path.join(folder, 'other', 'postgres')), false);
});

test('beside a running service: keys created on the command line work, revoked ones do not', async () => {
  const [{ id: organizationId }] = JSON.parse(succeeded(await reelfeed('org', 'list', '--json')));
  service.organizationId = organizationId;
  const made = JSON.parse(
    succeeded(await reelfeed('keys', 'create', '--type', 'secret', '--name', 'ci', '--json')),
  );
  assert.deepEqual([made.type, made.name, made.revokedAt], ['secret', 'ci', null]);
  const status = async () =>
    (await send(`${service.url}/v1/keys`, 'GET', { key: made.key })).status;
  assert.equal(await status(), 200);
  const printed = succeeded(
    await reelfeed('keys', 'create', '--type', 'publishable', '--name', 'web'),
  );
  assert.match(printed, /^rf_pk_\S+\nThe key will not be shown again\. Store it now\.\n$/);
  assert.match(
    succeeded(await reelfeed('keys', 'revoke', made.id)),
    /^Revoked key_\S+ .*five seconds/,
  );
  await eventually(
    'the key to be refused',
    async () => ((await status()) === 401 ? true : null),
    5_000,
  );
  const keys = JSON.parse(
    succeeded(await reelfeed('keys', 'list', '--json', '--org', organizationId)),
  );
  assert.equal(keys.length, 4);
  const listed = succeeded(await reelfeed('keys', 'list'));
  assert.match(listed, new RegExp(`^${made.id} +secret +rf_sk_\\S{4}… +revoked +ci$`, 'm'));
  for (const text of [JSON.stringify(keys), listed]) assert.ok(!text.includes(made.key));
});

test('a rejection by the service exits with 1 and its message', async () => {
  failed(await reelfeed('keys', 'revoke', 'key_x'), 1, /^There is no such resource\.\n$/);
  const keys = JSON.parse(succeeded(await reelfeed('keys', 'list', '--json')));
  const last = keys.find(
    (key: { type: string; revokedAt: unknown }) => key.type === 'secret' && key.revokedAt === null,
  );
  failed(await reelfeed('keys', 'revoke', last.id), 1, /last active secret key/);
});

test('doctor reports an invalid key, a used port, an open data directory and an unresolvable host', async () => {
  const problem = async (wrong: Record<string, string>) => {
    const answer = await runCommand(['doctor'], { env: { ...env, ...wrong } });
    assert.equal(answer.code, 1, answer.stdout);
    assert.doesNotMatch(answer.stdout, /sslmode/);
    return answer.stdout;
  };
  const garbage = path.join(folder, 'garbage');
  await mkdir(garbage);
  assert.match(
    await problem({ REELFEED_DATA_DIR: garbage, REELFEED_ENCRYPTION_KEY: 'garbage' }),
    /^PROBLEM Settings +The configuration is not valid:\n +REELFEED_ENCRYPTION_KEY.*32 bytes in base64/m,
  );
  assert.match(
    await problem({ REELFEED_DATA_DIR: garbage, REELFEED_SECRET_KEY: 'garbage' }),
    /^PROBLEM Settings +REELFEED_SECRET_KEY is not a valid Reelfeed secret key.*\n +→ Set it to the output/m,
  );
  const taken = createServer((_request, reply) => reply.end('another program'));
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  const { port } = taken.address() as AddressInfo;
  await chmod(garbage, 0o777);
  const output = await problem({
    REELFEED_DATA_DIR: garbage,
    PORT: String(port),
    REELFEED_PUBLIC_URL: 'https://feed.invalid',
  });
  taken.close();
  assert.match(output, new RegExp(`^PROBLEM Port +Port ${port} on .* is in use by another`, 'm'));
  assert.match(
    output,
    /^PROBLEM Data directory +\S+ is writable by every user.*\n +→ Run chmod o-w/m,
  );
  assert.match(output, /^PROBLEM Public URL +the host feed\.invalid .* cannot be resolved/m);
});

test('doctor and migrate beside a running service', async () => {
  const output = succeeded(await reelfeed('doctor'));
  assert.match(output, /^ok {6}Data directory +\S+, in use by a running service$/m);
  assert.match(output, /^ok {6}Database +reachable, \d+ migrations applied$/m);
  assert.match(output, /^ok {6}Background jobs +none has failed/m);
  assert.match(succeeded(await reelfeed('migrate')), /up to date/);
  const typo = await runCommand(['doctor'], { env: { ...env, REELFEED_HOSTT: 'x' } });
  assert.match(
    succeeded(typo),
    /^note {4}Settings +unknown: REELFEED_HOSTT\n +→ Compare the spelling/m,
  );
});

test('SIGTERM to the launcher stops the service behind it and leaves nothing', async () => {
  const folderOf = env.REELFEED_DATA_DIR;
  await service.stop();
  await assert.rejects(fetch(service.url));
  assert.ok(!(await readdir(folderOf)).includes('owner.json'));
  assert.ok(!(await readdir(path.join(folderOf, 'postgres'))).includes('postmaster.pid'));
});

test('a later start prints no keys, and an invalid configured key is rejected', async () => {
  const wrong = { ...env, REELFEED_SECRET_KEY: 'rf_sk_hunter2' };
  const refused = await startMain({ env: wrong }).ended;
  failed(refused, 1, /secret key is not well-formed.*reelfeed keys generate/);
  assert.doesNotMatch(refused.stderr, /hunter2/);
  const again = startMain({ env });
  await ready(again);
  assert.doesNotMatch(again.output.stdout, /rf_[sp]k_/);
  again.child.kill('SIGTERM');
  assert.equal((await again.ended).code, 0);
});

test('an older Node starts the installed Node 24', async (t) => {
  const old = await findOldNode();
  if (old === null) return t.skip('no Node before 24 is on the PATH');
  assert.match(succeeded(await runCommand(['help'], { env, node: old })), /^Usage: reelfeed/);
  const { code, stdout } = await runCommand(['doctor', '--json'], { env, node: old });
  assert.equal(code, 0, stdout);
  assert.match(JSON.parse(stdout).findings[0].detail, /^v(2[4-9]|[3-9]\d)\./);
  failed(await runCommand(['bogus'], { env, node: old }), 2, /Unknown command "bogus"/);
});

async function findOldNode(): Promise<string | null> {
  const folders = [
    ...(process.env['PATH'] ?? '').split(path.delimiter),
    '/usr/local/bin',
    '/usr/bin',
  ];
  for (const candidate of new Set(folders.map((one) => path.join(one, 'node')))) {
    const found = await promisify(execFile)(candidate, ['--version']).catch(() => null);
    const major = Number(/^v(\d+)\./.exec(found?.stdout ?? '')?.[1] ?? Infinity);
    if (major >= 20 && major < 24) return candidate;
  }
  return null;
}
