/**
 * Proves that misbehaving receivers delay neither an active webhook nor first deliveries. Covers
 * some cases of `bench/webhook-neighbours.ts`, which measures all of them. The limit leaves room
 * for a busy machine.
 */
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { atEnd } from '../../../../test/database.ts';
import { startReceiver } from '../../../../test/receiver.ts';
import { eventually } from '../../../../test/service.ts';
import { newTypeId, type OrganizationId } from '../../../platform/values/ids.ts';
import { cause, fillLine } from '../../../../test/webhooks/webhooks.ts';
import { answerBadly, badAnswerOf, startSilentPort } from '../../../../test/webhooks/neighbours.ts';
import {
  db,
  organizationId,
  otherOrganizationId,
  register,
  start,
} from '../../../../test/webhooks/sender.ts';

const maxLagMs = 5_000;
const neighbours = 40;
const queuedEach = 20;
const rounds = 5;

const receiver = await startReceiver(({ path }) => {
  const badly = badAnswerOf(path);
  return badly === null ? 204 : (...exchange) => answerBadly(badly, ...exchange);
});
const origin = new URL(receiver.url).origin;
const silent = await startSilentPort();
atEnd(async () => void silent.server.close());

beforeEach(() => void (receiver.requests.length = 0));

async function arrivesInTime(owner: OrganizationId, title: string): Promise<void> {
  const startedAt = performance.now();
  await cause(db, owner, title);
  const arrived = await eventually(title, async () => {
    return receiver.requests.find(({ body }) => body.includes(`"${title}"`)) ?? null;
  });
  const lagMs = arrived.at - startedAt;
  assert.ok(lagMs < maxLagMs, `${title} came after ${lagMs} ms`);
}

for (const [kind, url] of [
  ['slow', `${origin}/slow`],
  ['interim', `${origin}/interim`],
  ['tls', `https://127.0.0.1:${silent.port}/`],
] as const) {
  test(`beside ${neighbours} of kind ${kind}`, async () => {
    await register(receiver.url);
    await using sender = start({ scheduleMs: [0, 1_000, 1_000, 1_000] });
    await arrivesInTime(organizationId, 'alone');
    for (let n = 0; n < neighbours; n += 1) {
      await fillLine(db, await register(url, otherOrganizationId), queuedEach);
    }
    const before = receiver.requests.length;
    await eventually('the neighbours', async () => {
      const isThere = kind === 'tls' ? sender.underWay() > 0 : receiver.requests.length > before;
      return isThere ? true : null;
    });
    for (let round = 0; round < rounds; round += 1) {
      const fresh = newTypeId('org');
      await db.insertInto('organization').values({ organization_id: fresh, name: 'new' }).execute();
      await register(receiver.url, fresh);
      await arrivesInTime(organizationId, `warm ${round}`);
      await arrivesInTime(fresh, `first ${round}`);
    }
  });
}
