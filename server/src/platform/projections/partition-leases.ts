/**
 * The partitions that a process works on. Each process that works on projections holds a presence
 * lease and claims its share of the partitions: 16 for one process, 8 for each of two. A process
 * with more than its share releases the excess, and one with less claims free partitions. After a
 * kill, the leases of the killed process expire together with its presence, and the others share
 * its partitions.
 */
import { randomUUID } from 'node:crypto';
import { inTransaction, type Db } from '../database/database.ts';
import {
  claimLeases,
  deleteEndedLeases,
  readLeases,
  releaseLeases,
  renewLeases,
} from '../leases/leases.ts';
import { everyPartition, partitionCount } from './partitions.ts';

const presencePrefix = 'projector ';
const partitionPrefix = 'projections ';

export function leaseOf(partition: number): string {
  return `${partitionPrefix}${partition}`;
}

export type HeldPartitions = {
  /** Ascending. */
  readonly partitions: readonly number[];
  /** False if another process was first to claim partitions that this process needs. */
  readonly isSettled: boolean;
};

export class PartitionLeases {
  readonly #holderId = randomUUID();
  readonly #leaseMs: number;
  /** The last claim, if it was settled. Null if there was more to claim. */
  #settled: HeldPartitions | null = null;

  constructor(leaseMs: number) {
    this.#leaseMs = leaseMs;
  }

  /** Claims and keeps this process's share. */
  async claim(db: Db): Promise<HeldPartitions> {
    const settled = this.#settled;
    if (settled !== null && (await this.#keeps(db, settled))) return settled;
    const held = await this.#arrange(db);
    this.#settled = held.isSettled ? held : null;
    return held;
  }

  /**
   * Renews all leases. Returns false if something must change: a lease was lost, a process joined
   * or left, or a partition became free.
   */
  async #keeps(db: Db, { partitions }: HeldPartitions): Promise<boolean> {
    const names = [this.#presence, ...partitions.map(leaseOf)];
    const claim = { holderId: this.#holderId, leaseMs: this.#leaseMs, names };
    const { renewed, held } = await renewLeases(db, claim, [presencePrefix, partitionPrefix]);
    if (renewed < names.length || !names.every((name) => held.has(name))) return false;
    const present = [...held].filter((name) => name.startsWith(presencePrefix)).length;
    const share = shareOf(present);
    if (partitions.length === share) return true;
    return partitions.length < share && everyPartition.every((each) => held.has(leaseOf(each)));
  }

  async #arrange(db: Db): Promise<HeldPartitions> {
    const mine = { holderId: this.#holderId, leaseMs: this.#leaseMs };
    return inTransaction(db, async (tx) => {
      await claimLeases(tx, { ...mine, names: [this.#presence] });
      await deleteEndedLeases(tx, presencePrefix);
      const present = await readLeases(tx, presencePrefix);
      const holders = await readLeases(tx, partitionPrefix);
      const holderOf = (partition: number) => holders.get(leaseOf(partition));
      const share = shareOf(present.size);
      const held = everyPartition.filter((partition) => holderOf(partition) === this.#holderId);
      const free = everyPartition.filter((partition) => holderOf(partition) === undefined);
      const surplus = held.slice(share);
      await releaseLeases(tx, { holderId: this.#holderId, names: surplus.map(leaseOf) });
      const wanted = [...held, ...free].slice(0, share).toSorted((a, b) => a - b);
      const claimed = await claimLeases(tx, { ...mine, names: wanted.map(leaseOf) });
      const partitions = wanted.filter((partition) => claimed.includes(leaseOf(partition)));
      // With three processes, 6, 5 and 5 is as good as 6, 6 and 4.
      const isSettled = partitions.length === share || free.length === 0;
      return { partitions, isSettled };
    });
  }

  /** Releases everything, so that other processes can claim it immediately. */
  async release(db: Db): Promise<void> {
    this.#settled = null;
    const names = [...everyPartition.map(leaseOf), this.#presence];
    await inTransaction(db, (tx) => releaseLeases(tx, { names, holderId: this.#holderId }));
  }

  get #presence(): string {
    return presencePrefix + this.#holderId;
  }
}

function shareOf(processes: number): number {
  return Math.ceil(partitionCount / Math.max(1, processes));
}
