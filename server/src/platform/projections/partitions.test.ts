import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { openTestDatabase } from '../../../test/database.ts';
import { pause, until } from '../../../test/waiting.ts';
import { leaseOf, PartitionLeases } from './partition-leases.ts';
import { everyPartition, partitionCount, partitionOf } from './partitions.ts';

describe('partitions', () => {
  test('divide organizations and viewers evenly, and never change', () => {
    const counts = everyPartition.map(() => 0);
    for (let number = 0; number < 16_000; number += 1) {
      const partition = partitionOf('org_01jd0000000000000000000000', `u:viewer ${number}`);
      counts[partition] = (counts[partition] ?? 0) + 1;
    }
    assert.ok(Math.min(...counts) > 800 && Math.max(...counts) < 1_200, counts.join(' '));
    // Stored rows depend on these values.
    assert.deepEqual(
      ['org_a', 'org_b', 'org_c'].map((id) => partitionOf(id)),
      [2, 11, 8],
    );
    assert.equal(partitionOf('org_a', 'u:ada'), 7);
  });

  test('are divided among the running processes, and taken over when one is gone', async () => {
    const { db } = await openTestDatabase();
    const leaseMs = 1_000;
    const [one, two, three] = [0, 1, 2].map(() => new PartitionLeases(leaseMs));
    assert.ok(one !== undefined && two !== undefined && three !== undefined);
    assert.deepEqual((await one.claim(db)).partitions, everyPartition);
    assert.deepEqual(await two.claim(db), { partitions: [], isSettled: true });
    assert.equal((await one.claim(db)).partitions.length, 8, 'gives up what is not its share');
    assert.equal((await two.claim(db)).partitions.length, 8);
    const claimAll = async () => {
      const held = [];
      for (const each of [one, two, three]) held.push((await each.claim(db)).partitions);
      return held;
    };
    const shared = await until('the third to have its share', claimAll, (held) =>
      held.every(({ length }) => length >= 4),
    );
    assert.deepEqual(
      shared.flat().toSorted((a, b) => a - b),
      everyPartition,
      'each once',
    );
    await two.release(db);
    const left = async () => [
      ...(await one.claim(db)).partitions,
      ...(await three.claim(db)).partitions,
    ];
    assert.equal((await left()).length, partitionCount, 'what was released is taken at once');
    // The third process disappears without releasing its leases.
    await until(
      'the lease of a process that has died to run out',
      async () => (await one.claim(db)).partitions,
      (held) => held.length === partitionCount,
    );
  });

  test('are kept as long as they are renewed, and taken back when the lease was lost', async () => {
    const { db } = await openTestDatabase();
    const [one, two] = [0, 1].map(() => new PartitionLeases(1_000));
    assert.ok(one !== undefined && two !== undefined);
    await one.claim(db);
    for (let renewal = 0; renewal < 4; renewal += 1) {
      await pause(400, 'longer than the lease, with renewals');
      assert.deepEqual((await one.claim(db)).partitions, everyPartition);
    }
    assert.deepEqual((await two.claim(db)).partitions, [], 'the renewals count');
    await two.release(db);
    const lost = {
      holder_id: randomUUID(),
      held_until: new Date(Date.now() + 60_000).toISOString(),
    };
    await db.updateTable('lease').set(lost).where('name', '=', leaseOf(3)).execute();
    const others = everyPartition.filter((partition) => partition !== 3);
    assert.deepEqual((await one.claim(db)).partitions, others, 'nobody works on what another has');
    await db.deleteFrom('lease').where('name', '=', leaseOf(3)).execute();
    assert.deepEqual((await one.claim(db)).partitions, everyPartition);
  });
});
