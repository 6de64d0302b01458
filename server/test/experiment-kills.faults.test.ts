/**
 * Proves that killing processes while they expose viewers loses no acknowledged viewer, counts none
 * twice, and reassigns none.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { createExperiment } from './experiment-samples.ts';
import { startProcess } from './processes.ts';
import { eventually, send, startService, type Reply } from './service.ts';

const kills = 20;
const service = await startService();

test('20 times kill -9 under load: every acknowledged exposure counts once, and nobody is reassigned', async () => {
  const id = await createExperiment(service);
  const started = await service.call('POST', `/v1/experiments/${id}/start`);
  assert.equal(started.status, 200, started.text);
  const asked = new Set<string>();
  const given = new Map<string, string>();
  let requests = 0;
  const ask = async (url: string, userId: string): Promise<void> => {
    asked.add(userId);
    const reply = await send(`${url}/v1/config?userId=${userId}`, 'GET', {
      key: service.publishableKey,
    }).catch(() => null);
    if (reply?.status !== 200) return;
    requests += 1;
    const found = reply.body.data.experiments.find((one: Reply['body']) => one.experimentId === id);
    assert.equal(found.variantId, given.get(userId) ?? found.variantId, `${userId} was moved`);
    given.set(userId, found.variantId);
  };
  const participantsOf = async (): Promise<number[]> => {
    const { body } = await service.call('GET', `/v1/experiments/${id}/results`);
    assert.equal(body.data.health.unitsInSeveralVariants, 0);
    return body.data.variants.map((variant: Reply['body']) => variant.participants);
  };
  for (let round = 0; round < kills; round += 1) {
    const process = await startProcess(service.connection, service.dataDir, {
      REELFEED_ROLES: 'api',
    });
    let isKilled = false;
    const workers = Array.from({ length: 6 }, async (_, worker) => {
      for (let turn = 0; !isKilled; turn += 1) {
        // New viewers, and some of earlier rounds again.
        const of = turn % 2 === 0 ? round : Math.floor(round / 2);
        await ask(process.url, `killed-${of}-${turn}-${worker}`);
      }
    });
    await eventually('some requests', async () => (requests > 200 * (round + 1) ? true : null));
    await process.kill();
    isKilled = true;
    await Promise.all(workers);
    const counted = (await participantsOf()).reduce((a, b) => a + b, 0);
    // An exposure whose response was lost in the kill may have been stored.
    assert.ok(counted >= given.size, `${counted} of ${given.size} after ${round + 1} kills`);
  }
  for (const userId of asked) await ask(service.url, userId);
  const expected = ['control', 'b'].map(
    (variant) => [...given.values()].filter((each) => each === variant).length,
  );
  await eventually('every viewer to count once', async () =>
    isDeepStrictEqual(await participantsOf(), expected) ? true : null,
  );
});
