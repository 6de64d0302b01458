/** Proves that `reelfeed psql` reaches the database, with psql and without it. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { cloneDatabase } from '../../test/database.ts';
import { runCommand } from '../../test/processes.ts';
import { temporaryFolder, toUrl } from '../../test/service.ts';

const env = {
  DATABASE_URL: toUrl(await cloneDatabase()),
  REELFEED_DATA_DIR: await temporaryFolder(),
};
const statement = `select 7 * 6 as answer, 'a b' as text, null as nothing`;

test('a statement is answered with psql, and by the prompt where there is none', async () => {
  for (const folder of [process.env['PATH'] ?? '', path.dirname(process.execPath)]) {
    const given = { env: { ...env, PATH: folder } };
    const ended = await runCommand(['psql', '--execute', statement], given);
    assert.equal(ended.code, 0, ended.stderr);
    assert.match(ended.stdout, /answer \| text \| nothing/);
    assert.match(ended.stdout, /42 +\| a b/);
    assert.match(ended.stdout, /\(1 row\)/);
    const wrong = await runCommand(['psql', '--execute', 'select nonsense'], given);
    assert.notEqual(wrong.code, 0);
    assert.match(wrong.stderr, /column "nonsense" does not exist/);
  }
});

test('other tools get the connection as variables', async () => {
  const { stdout } = await runCommand(['psql', 'connection', '--json'], { env });
  const { PGDATABASE, PGUSER } = JSON.parse(stdout);
  const { pathname, username } = new URL(env.DATABASE_URL);
  assert.deepEqual([`/${PGDATABASE}`, PGUSER], [pathname, username]);
});
