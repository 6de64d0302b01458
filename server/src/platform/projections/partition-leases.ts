/**
 * The partitions that a process works on. Each process that works on projections, or on the rebuild
 * of one, holds a presence lease and claims its share of the partitions: 16 for one process, 8 for
 * each of two. A process with more than its share releases the excess, and one with less claims
 * free partitions. After a crash, the leases of the dead process expire together with its presence,
 * and the others share its partitions.
 */
import { randomUUID } from 'node:crypto';
import { inTransaction, type Db, type Tx } from '../database/database.ts';
import {
  claimLeases,
  deleteEndedLeases,
  readLeases,
  releaseLeases,
  renewLeases,
  type LeaseClaim,
} from '../leases/leases.ts';
import { everyPartition, partitionCount } from './partitions.ts';

/** Prefixes of the names of the leases of one division of work. */
export type LeaseNames = { readonly presence: string; readonly partition: string };

const ofProjectors: LeaseNames = { presence: 'projector ', partition: 'projections ' };

/** The lease under which the projector of a process keeps a partition of the tables in use. */
export function leaseOf(partition: number): string {
  return `${ofProjectors.partition}${partition}`;
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
  readonly #names: LeaseNames;
  /** The last claim, if it was settled. Null if there was more to claim. */
  #settled: HeldPartitions | null = null;

  constructor(leaseMs: number, names: LeaseNames = ofProjectors) {
    this.#leaseMs = leaseMs;
    this.#names = names;
  }

  /** Claims the presence lease alone, in the transaction that decides to take part. */
  async arrive(tx: Tx): Promise<void> {
    await claimLeases(tx, this.#claimOf([this.#presence]));
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
    const names = [this.#presence, ...this.#leasesOf(partitions)];
    const { presence, partition } = this.#names;
    const { renewed, held } = await renewLeases(db, this.#claimOf(names), [presence, partition]);
    if (renewed < names.length || !names.every((name) => held.has(name))) return false;
    const present = [...held].filter((name) => name.startsWith(presence)).length;
    const share = shareOf(present);
    if (partitions.length === share) return true;
    return (
      partitions.length < share && this.#leasesOf(everyPartition).every((each) => held.has(each))
    );
  }

  async #arrange(db: Db): Promise<HeldPartitions> {
    return inTransaction(db, async (tx) => {
      await this.arrive(tx);
      await deleteEndedLeases(tx, this.#names.presence);
      const present = await readLeases(tx, this.#names.presence);
      const holders = await readLeases(tx, this.#names.partition);
      const holderOf = (partition: number) => holders.get(this.#leaseOf(partition));
      const share = shareOf(present.size);
      const held = everyPartition.filter((partition) => holderOf(partition) === this.#holderId);
      const free = everyPartition.filter((partition) => holderOf(partition) === undefined);
      const surplus = held.slice(share);
      await releaseLeases(tx, { holderId: this.#holderId, names: this.#leasesOf(surplus) });
      const wanted = [...held, ...free].slice(0, share).toSorted((a, b) => a - b);
      const claimed = await claimLeases(tx, this.#claimOf(this.#leasesOf(wanted)));
      const partitions = wanted.filter((each) => claimed.includes(this.#leaseOf(each)));
      // With three processes, 6, 5 and 5 is as good as 6, 6 and 4.
      const isSettled = partitions.length === share || free.length === 0;
      return { partitions, isSettled };
    });
  }

  /** Releases everything, so that other processes can claim it immediately. */
  async release(db: Db): Promise<void> {
    await inTransaction(db, (tx) => this.releaseIn(tx));
  }

  async releaseIn(tx: Tx): Promise<void> {
    this.#settled = null;
    const names = [...this.#leasesOf(everyPartition), this.#presence];
    await releaseLeases(tx, { names, holderId: this.#holderId });
  }

  get #presence(): string {
    return this.#names.presence + this.#holderId;
  }

  #leaseOf(partition: number): string {
    return `${this.#names.partition}${partition}`;
  }

  #leasesOf(partitions: readonly number[]): string[] {
    return partitions.map((partition) => this.#leaseOf(partition));
  }

  #claimOf(names: readonly string[]): LeaseClaim {
    return { names, holderId: this.#holderId, leaseMs: this.#leaseMs };
  }
}

function shareOf(processes: number): number {
  return Math.ceil(partitionCount / Math.max(1, processes));
}
