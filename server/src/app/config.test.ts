/** Tests how environment variables become the configuration, and that no secret is ever shown. */
import assert from 'node:assert/strict';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import {
  ConfigurationError,
  describeSettings,
  unknownVariables,
} from '../platform/settings/settings.ts';
import { readConfig, settings } from './config.ts';
import { dayMs } from '../platform/values/time.ts';

let folder = '';
before(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'reelfeed-config-'));
});
after(() => rm(folder, { recursive: true, force: true }));

async function fileWith(content: string): Promise<string> {
  const file = path.join(folder, `${Math.random()}`);
  await writeFile(file, content);
  return file;
}

function messageOf(env: NodeJS.ProcessEnv): string {
  try {
    readConfig(env);
  } catch (error) {
    assert.ok(error instanceof ConfigurationError);
    return error.message;
  }
  throw new Error('the configuration was accepted');
}

test('an empty environment gives the documented defaults', () => {
  const config = readConfig({});
  assert.equal(config.port, 4000);
  assert.equal(config.host, '127.0.0.1');
  assert.equal(config.dataDir, path.resolve('data'));
  assert.equal(config.databaseUrl, null);
  assert.equal(config.maxUploadBytes, 5 * 2 ** 30);
  assert.deepEqual(config.roles, ['api', 'worker', 'media']);
  assert.equal(config.archiveRetentionMs, 30 * dayMs);
  assert.deepEqual(Object.keys(config).toSorted(), Object.keys(settings).toSorted());
});

test('an empty variable counts as none, and a relative data directory becomes absolute', () => {
  assert.equal(readConfig({ PORT: '' }).port, 4000);
  assert.equal(readConfig({ DATABASE_URL: '', DATABASE_URL_FILE: '' }).databaseUrl, null);
  assert.equal(readConfig({ REELFEED_DATA_DIR: 'a/../b' }).dataDir, path.resolve('b'));
});

test('all invalid values are named together, with what was given and what was expected', () => {
  const message = messageOf({
    PORT: '70000',
    REELFEED_ROLES: 'api,web',
    REELFEED_UPLOAD_EXPIRY: '24',
    REELFEED_PUBLIC_URL: 'feed.example.com',
    REELFEED_SHUTDOWN_GRACE: '30d',
  });
  const lines = message.split('\n').map((line) => line.trim());
  assert.equal(lines.length, 6, message);
  assert.ok(lines.includes('PORT: "70000" is not valid: expected a whole number from 0 to 65535'));
  for (const name of ['REELFEED_ROLES: "api,web"', 'REELFEED_UPLOAD_EXPIRY: "24"']) {
    assert.ok(message.includes(name), message);
  }
  assert.match(message, /REELFEED_PUBLIC_URL: "feed\.example\.com".*https:\/\/feed/);
  assert.match(message, /REELFEED_SHUTDOWN_GRACE: "30d".*0s to 24d/);
});

test('values that make no sense are rejected, although they have the right form', () => {
  const senseless = {
    REELFEED_EVENT_RETENTION: '1h',
    REELFEED_WEBHOOK_RETENTION: '1h',
    REELFEED_ARCHIVE_RETENTION: '1h',
    REELFEED_AUDIT_RETENTION: '1h',
    REELFEED_MAX_UPLOAD_BYTES: '0',
    REELFEED_MEDIA_MEMORY_BYTES: '0',
    REELFEED_UPLOAD_EXPIRY: '0s',
    REELFEED_UPLOAD_SILENCE: '0s',
    REELFEED_COUNTRY_HEADER: 'no header: x',
  };
  const message = messageOf(senseless);
  for (const [name, value] of Object.entries(senseless)) {
    assert.ok(message.includes(`${name}: "${value}" is not valid`), message);
  }
});

const garbage = [
  '-1',
  '-0',
  '1.5',
  '1e309',
  '0x10',
  'NaN',
  'Infinity',
  '∞',
  '١٢',
  '9'.repeat(400),
  '9'.repeat(20) + 'd',
  'true',
  'null',
  'undefined',
  '{}',
  '[1]',
  '"',
  "'; drop table person; --",
  '$(id)',
  '`id`',
  '../../etc/passwd',
  '%00',
  '<script>',
  '💥',
  '\u202e',
  ' , ,',
  '=',
  '://',
  'http://',
  'postgres://',
  's3://',
  'line\nline',
  'a'.repeat(100_000),
];

test('each setting takes thirty kinds of garbage, or refuses each in one sentence', () => {
  assert.ok(garbage.length >= 30);
  let refused = 0;
  for (const { env } of Object.values(settings)) {
    for (const raw of garbage) {
      try {
        readConfig({ [env]: raw });
      } catch (error) {
        assert.ok(error instanceof ConfigurationError, `${env}=${raw}: ${String(error)}`);
        const [head, sentence = '', ...more] = error.message.split('\n');
        assert.equal(head, 'The configuration is not valid:');
        assert.ok(sentence.startsWith(`  ${env}: `), sentence);
        assert.match(sentence, / is not valid: expected \S/);
        assert.deepEqual(more, [], `${env}=${raw}`);
        refused += 1;
      }
    }
  }
  assert.ok(refused > 1_000, `${refused} refused`);
});

test('an invalid secret is named without its value, from the variable and from a file', async () => {
  const secret = 'mysql://root:hunter2@db/prod';
  const file = await fileWith('hunter2-key');
  const message = messageOf({ DATABASE_URL: secret, REELFEED_ENCRYPTION_KEY_FILE: file });
  assert.match(message, /DATABASE_URL: the given value is not valid/);
  assert.match(message, /REELFEED_ENCRYPTION_KEY: the given value is not valid/);
  assert.doesNotMatch(message, /hunter2/);
});

test('a secret may come from a file, and the variable itself comes first', async () => {
  const url = 'postgres://user:pw@host/db';
  const file = await fileWith(`${url}\r\n`);
  assert.equal(readConfig({ DATABASE_URL_FILE: file }).databaseUrl, url);
  const given = 'postgres://other/db';
  assert.equal(readConfig({ DATABASE_URL: given, DATABASE_URL_FILE: file }).databaseUrl, given);
});

test('a file that is absent, empty or a folder is refused, not taken for no setting', async () => {
  const absent = path.join(folder, 'absent');
  assert.match(messageOf({ DATABASE_URL_FILE: absent }), /DATABASE_URL_FILE: cannot read .*absent/);
  assert.match(messageOf({ DATABASE_URL_FILE: folder }), /DATABASE_URL_FILE: cannot read/);
  for (const content of ['', '\n', '  \r\n']) {
    const file = await fileWith(content);
    assert.match(messageOf({ DATABASE_URL_FILE: file }), /DATABASE_URL_FILE: the file .* is empty/);
  }
});

test(
  'a file that this user may not read is refused',
  { skip: process.getuid?.() === 0 },
  async () => {
    const file = await fileWith('postgres://host/db');
    await chmod(file, 0o000);
    assert.match(messageOf({ DATABASE_URL_FILE: file }), /cannot read/);
  },
);

test('variables with our prefix that match no setting are reported, and nothing else', () => {
  const env = {
    REELFEED_PORT: '1',
    REELFEED_MAX_UPLOAD_BYTE: '1',
    REELFEED_HOST_FILE: '/x',
    REELFEED_SECRET_KEY_FILE: '/x',
    REELFEED_HOST: 'x',
    DATABASE_URL_FILE: '/x',
    PATH: '/bin',
    reelfeed_port: '1',
  };
  const expected = ['REELFEED_HOST_FILE', 'REELFEED_MAX_UPLOAD_BYTE', 'REELFEED_PORT'];
  assert.deepEqual(unknownVariables(settings, env).toSorted(), expected);
});

test('each setting has a unique name, a valid default, and one line in the table', () => {
  const all = Object.values(settings);
  assert.equal(new Set(all.map(({ env }) => env)).size, all.length);
  const table = describeSettings(settings).split('\n');
  assert.equal(table.length, all.length + 2);
  for (const row of table) assert.equal(row.split('|').length, 5, row);
  for (const { env, about, fallback, parse } of all) {
    assert.match(about, /^[A-Z].*\.$/, env);
    assert.ok('value' in parse(fallback), env);
  }
});
