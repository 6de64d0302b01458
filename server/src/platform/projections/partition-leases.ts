/**
 * Which partitions a process works on. Each process that works on projections has a lease that only says
 * that it is there, and takes its share of the partitions: 16 by one, 8 by each of two. One that has more
 * than its share gives up the rest, and one that has less takes what is free. After a kill, the leases of
 * the killed process run out together with its presence, and the others share its partitions.
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

/** The name of the lease of a partition. */
export function leaseOf(partition: number): string {
  return `${partitionPrefix}${partition}`;
}

export type HeldPartitions = {
  /** Ascending. */
  readonly partitions: readonly number[];
  /** False while there was more to take that another process took first. */
  readonly isSettled: boolean;
};

export class PartitionLeases {
  readonly #holderId = randomUUID();
  readonly #leaseMs: number;
  /** What the last claim has settled on; null when there was more to take. */
  #settled: HeldPartitions | null = null;

  constructor(leaseMs: number) {
    this.#leaseMs = leaseMs;
  }

  /** Takes and keeps the share of this process. */
  async claim(db: Db): Promise<HeldPartitions> {
    const settled = this.#settled;
    if (settled !== null && (await this.#keeps(db, settled))) return settled;
    const held = await this.#arrange(db);
    this.#settled = held.isSettled ? held : null;
    return held;
  }

  /**
   * Renews everything. False if there is something to change: a lease was lost, a process came or went,
   * or a partition became free.
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
      // With three processes 6, 5 and 5, or 6, 6 and 4, are as good.
      const isSettled = partitions.length === share || free.length === 0;
      return { partitions, isSettled };
    });
  }

  /** Gives up everything, for other processes to take at once. */
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
