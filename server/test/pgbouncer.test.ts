/**
 * The service behind PgBouncer in transaction mode: missing settings are explained, and then
 * everything works.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFirstItem } from './event-journal.ts';
import { sampleEvent } from './event-samples.ts';
import { findServer, makeDatabase, run } from './outside-postgres.ts';
import { hasPgBouncer, startPgBouncer } from './pgbouncer.ts';
import { ready, startMain } from './processes.ts';
import { send, temporaryFolder } from './service.ts';
import { until } from './waiting.ts';

const server = await findServer();

test('a pooler without a direct URL or without settings is explained; then everything works', async (t) => {
  if (!hasPgBouncer) return t.skip('needs the program pgbouncer');
  if ('reason' in server) return t.skip(server.reason);
  const direct = await makeDatabase(server.url);
  const pooled = await startPgBouncer(direct);
  const env = {
    PORT: '0',
    REELFEED_DATA_DIR: await temporaryFolder(),
    REELFEED_LOG_LEVEL: 'error',
    REELFEED_MIN_FREE_BYTES: '0',
    DATABASE_URL: pooled,
  };
  const without = await startMain({ env }).ended;
  assert.equal(without.code, 1);
  assert.match(without.stderr, /DATABASE_URL points to a pooler.*REELFEED_DATABASE_DIRECT_URL/s);

  const whole = { ...env, REELFEED_DATABASE_DIRECT_URL: direct };
  const unset = await startMain({ env: whole }).ended;
  assert.equal(unset.code, 1);
  const statements = unset.stderr.split('\n').filter((line) => line.includes('alter role'));
  assert.ok(statements.some((line) => line.includes("set statement_timeout = '30000'")));
  for (const statement of statements) await run(direct, statement);

  // PgBouncer keeps existing connections.
  const running = startMain({
    env: { ...whole, DATABASE_URL: await startPgBouncer(direct) },
  });
  const url = await ready(running);
  const { stdout: output } = running.output;
  const { key, contentId } = await createFirstItem({ url, output });
  const secretKey = /(rf_sk_\w+)/.exec(output)?.[1] ?? '';
  const count = 40;
  const answers = await Promise.all(
    Array.from({ length: count }, async (_, n) => {
      const title = `Item ${n}`;
      const [event, updated, list, feed] = await Promise.all([
        send(`${url}/v1/events`, 'POST', { key, body: sampleEvent('like', contentId) }),
        send(`${url}/v1/content/${contentId}`, 'PATCH', { key: secretKey, body: { title } }),
        send(`${url}/v1/content?limit=5`, 'GET', { key: secretKey }),
        send(`${url}/v1/feed`, 'GET', { key }),
      ]);
      return [event, updated, list, feed].map(({ status }) => status);
    }),
  );
  assert.deepEqual(new Set(answers.flat()), new Set([200]));
  await until(
    'every like to be counted',
    async () => {
      const { body } = await send(`${url}/v1/analytics/overview`, 'GET', { key: secretKey });
      return body.data.summary.likes as number;
    },
    (likes) => likes === count,
  );
  running.child.kill('SIGTERM');
  assert.equal((await running.ended).code, 0);
});
