/**
 * Where the states of views and sessions are kept between passes: two tables that take turns, and a
 * memory of those that were used last.
 *
 * A generation is three days of the log, by the time at which events were received; its states lie in
 * the table of its parity. A state that changes moves to the current generation, and is also found in
 * the one before; older ones are truncated when a new generation begins. Events are refused when they
 * are older than a day, so a view that was left for three days has ended.
 *
 * The memory is right only as long as one process writes and its transactions commit. Whoever is
 * overtaken, or fails, must `forget`.
 */
import type { Tx } from '../../../platform/database/database.ts';
import { RecentRecords, type RecordCodec } from '../recent-records.ts';
import { selectStates, upsertStates, type StateTableName } from './state-queries.ts';

export type StateKind<State extends object> = RecordCodec<State> & {
  /** The table of even generations and that of odd ones. */
  readonly tables: readonly [StateTableName, StateTableName];
  readonly remembered: number;
};

export class StateStore<State extends object> {
  readonly #kind: StateKind<State>;
  readonly #memory: RecentRecords<State>;

  constructor(kind: StateKind<State>) {
    this.#kind = kind;
    this.#memory = new RecentRecords(kind.remembered, kind);
  }

  /** The states of these keys (16 bytes as a string), in their order; null where there is none. */
  async load(tx: Tx, keys: readonly string[], generation: number): Promise<(State | null)[]> {
    const { tables, read } = this.#kind;
    const states = keys.map((key) => this.#memory.get(key));
    const missing = new Map<string, number>();
    for (const [place, key] of keys.entries()) if (states[place] === null) missing.set(key, place);
    // The current generation first: what lies in the other has been overtaken where both have it.
    for (const table of [tables[generation % 2], tables[(generation + 1) % 2]]) {
      if (missing.size === 0 || table === undefined) break;
      for (const { key, state } of await selectStates(tx, table, [...missing.keys()].toSorted())) {
        const name = key.toString('latin1');
        const place = missing.get(name);
        if (place !== undefined) states[place] = read(state, 0);
        missing.delete(name);
      }
    }
    return states;
  }

  async save(
    tx: Tx,
    keys: readonly string[],
    states: readonly State[],
    generation: number,
  ): Promise<void> {
    const { tables, sizeBytes, write } = this.#kind;
    const table = tables[generation % 2] ?? tables[0];
    await upsertStates(tx, table, {
      keys,
      sizeBytes,
      write(index, bytes, at) {
        const state = states[index];
        if (state !== undefined) write(state, bytes, at);
      },
    });
    for (const [place, key] of keys.entries()) {
      const state = states[place];
      if (state !== undefined) this.#memory.set(key, state);
    }
  }

  forget(): void {
    this.#memory.clear();
  }
}
