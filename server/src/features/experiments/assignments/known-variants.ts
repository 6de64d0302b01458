/**
 * Variants that signed-in users were given before. Assignment is a pure function of the unit, and a
 * unit changes only once: when the viewer of a device signs in. The user then keeps what the device
 * was given first, in every process and on every device. A process therefore looks up each user
 * when it first sees them. A variant that was found never changes while its experiment runs. If
 * nothing was found, the lookup is repeated after a minute, because another process may have joined
 * a device to the user.
 */
import { LRUCache } from 'lru-cache';
import type { Db } from '../../../platform/database/database.ts';
import { selectKnownVariants, type KnownVariant } from './exposure-queries.ts';
import type { AssignmentPatience } from './patience.ts';

export type KnownByExperiment = ReadonlyMap<number, KnownVariant>;

export const nothingKnown: KnownByExperiment = new Map();

const maxUsers = 100_000;
/**
 * Each start of an experiment changes the view version, so entries of earlier versions must be
 * evicted.
 */
const maxOfUser = 16;
const keptIncompleteMs = 60_000;

type Remembered = { readonly known: KnownByExperiment; readonly until: number };
/** The remembered variants of a user, by view version, experiments and device. */
type OfUser = Map<string, Remembered>;

export class KnownVariants {
  readonly #db: Db;
  readonly #patience: AssignmentPatience;
  /** By user key. */
  readonly #users = new LRUCache<string, OfUser>({ max: maxUsers });

  constructor(db: Db, patience: AssignmentPatience) {
    this.#db = db;
    this.#patience = patience;
  }

  /** @param version of the view, which changes when an experiment starts */
  async of(
    experimentNumbers: readonly number[],
    version: number,
    unitKey: Buffer,
    deviceKey: Buffer | null,
  ): Promise<KnownByExperiment> {
    const user = unitKey.toString('latin1');
    const key = `${version} ${experimentNumbers.join()} ${deviceKey?.toString('latin1') ?? ''}`;
    const remembered = this.#users.get(user)?.get(key);
    if (remembered !== undefined && performance.now() < remembered.until) return remembered.known;
    const found = await this.#patience.waitFor(
      selectKnownVariants(this.#db, experimentNumbers, unitKey, deviceKey),
    );
    if (found === null) return nothingKnown;
    // Sort the unit's own variants last so that they override those of its device.
    const known = new Map(
      found
        .toSorted((a, b) => Number(a.isOwn) - Number(b.isOwn))
        .map((each) => [each.experimentNumber, each]),
    );
    const isComplete = experimentNumbers.every((number) => known.has(number));
    const until = isComplete ? Infinity : performance.now() + keptIncompleteMs;
    this.#remember(user, key, { known: known.size === 0 ? nothingKnown : known, until });
    return known;
  }

  /** Forces a new lookup for a user who has just been joined with a device. */
  forget(unitKey: Buffer): void {
    this.#users.delete(unitKey.toString('latin1'));
  }

  #remember(user: string, key: string, remembered: Remembered): void {
    const ofUser = this.#users.get(user);
    if (ofUser === undefined || ofUser.size >= maxOfUser) {
      this.#users.set(user, new Map([[key, remembered]]));
    } else {
      ofUser.set(key, remembered);
    }
  }
}
