/**
 * The service on two PostgreSQL servers, one of them a synchronous replica: the primary is killed
 * under load and the replica promoted. Nothing acknowledged is lost or duplicated, and the service
 * recovers within seconds without a restart.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findPrimary, currentUrl } from '../src/platform/database/primary.ts';
import { assertExactlyOnce, createFirstItem, newJournal, sendEvents } from './event-journal.ts';
import { startInstance, stopInstance } from './killable-service.ts';
import { hasReplication, startPostgresPair } from './postgres-pair.ts';
import { temporaryFolder } from './service.ts';
import { openStoredEvents } from './stored-events.ts';
import { pause, until } from './waiting.ts';

const options = { skip: hasReplication ? false : 'needs the programs of an installed PostgreSQL' };
const backWithinMs = 5_000;

test('the primary fails and the replica takes over: nothing is lost', options, async (t) => {
  const pair = await startPostgresPair();
  assert.equal(await findPrimary(pair.url), true);
  assert.equal(new URL(currentUrl(pair.url)).host, new URL(pair.urlOf(0)).host);
  const env = { DATABASE_URL: pair.url, REELFEED_LOG_LEVEL: 'warn' };
  const instance = await startInstance(await temporaryFolder(), env);
  const { url, process: running } = instance;
  const target = await createFirstItem({ url, output: running.output.stdout });
  const journal = newJournal();
  const stopping = new AbortController();
  const senders = Array.from({ length: 3 }, () =>
    sendEvents(() => url, target, journal, stopping.signal),
  );
  const acknowledged = () => journal.acknowledged.size;
  await until('events before the failure', acknowledged, (count) => count > 500);
  pair.kill(0);
  await pause(1_000, 'whoever watches the databases decides that the primary is gone');
  const before = acknowledged();
  await pair.promote();
  const startedAt = performance.now();
  await until('events after the promotion', acknowledged, (count) => count > before);
  const backMs = performance.now() - startedAt;
  await until('many more', acknowledged, (count) => count > before + 500);
  stopping.abort();
  await Promise.all(senders);
  t.diagnostic(
    `${acknowledged()} acknowledged, back ${Math.round(backMs)} ms after the promotion, ` +
      `refused: ${JSON.stringify(Object.fromEntries(journal.refusals))}`,
  );
  assert.equal(await findPrimary(pair.url, 10_000), true, 'this process has not followed yet');
  const stored = await openStoredEvents({ connection: { url: pair.url } });
  assertExactlyOnce(
    (await stored.all()).map(({ eventId }) => eventId),
    journal,
  );
  assert.ok(backMs < backWithinMs, `${backMs} ms`);
  await stopInstance(instance);
});
