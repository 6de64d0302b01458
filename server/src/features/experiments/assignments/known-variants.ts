/**
 * Variants that signed-in users were given before. Assignment is a pure function of the unit, and a
 * unit changes once: when the viewer of a device signs in. What the device was given first then stays,
 * for the user, on every process and on every device. So a user is looked up when a process sees it
 * for the first time; what is found never changes while an experiment runs.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Db } from '../../../platform/database/database.ts';
import { selectKnownVariants, type KnownVariant } from './exposure-queries.ts';

/** By the number of the experiment. */
export type KnownByExperiment = ReadonlyMap<number, KnownVariant>;

export const nothingKnown: KnownByExperiment = new Map();

const maxRemembered = 100_000;
/** A database that is slow or away holds up no feed: the viewer gets what the hash says. */
const maxWaitMs = 250;

export class KnownVariants {
  readonly #db: Db;
  /** By the version of the view, the experiments, and the keys of user and device; in two generations. */
  #recent = new Map<string, KnownByExperiment>();
  #before = new Map<string, KnownByExperiment>();

  constructor(db: Db) {
    this.#db = db;
  }

  /** @param version of the view, which changes when an experiment starts */
  async of(
    experimentNumbers: readonly number[],
    version: number,
    unitKey: Buffer,
    deviceKey: Buffer | null,
  ): Promise<KnownByExperiment> {
    const key = `${version} ${experimentNumbers.join()} ${unitKey.toString('latin1')}${deviceKey?.toString('latin1') ?? ''}`;
    const known = this.#recent.get(key) ?? this.#before.get(key);
    if (known !== undefined) return known;
    const giveUp = new AbortController();
    const found = await Promise.race([
      selectKnownVariants(this.#db, experimentNumbers, unitKey, deviceKey).catch(() => null),
      delay(maxWaitMs, null, { signal: giveUp.signal }).catch(() => null),
    ]);
    giveUp.abort();
    if (found === null) return nothingKnown;
    // What is the unit's own comes last, and so before what is of its device.
    const byExperiment = new Map(
      found
        .toSorted((a, b) => Number(a.isOwn) - Number(b.isOwn))
        .map((each) => [each.experimentNumber, each]),
    );
    this.#remember(key, byExperiment.size === 0 ? nothingKnown : byExperiment);
    return byExperiment;
  }

  #remember(key: string, known: KnownByExperiment): void {
    if (this.#recent.size >= maxRemembered) {
      this.#before = this.#recent;
      this.#recent = new Map();
    }
    this.#recent.set(key, known);
  }
}
