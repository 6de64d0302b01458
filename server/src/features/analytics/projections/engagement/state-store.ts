/**
 * Stores the states of views and sessions between passes, in three tables used in rotation and a
 * cache of the most recently used states. A row holds all states of one key that may still change,
 * which is nearly always one.
 *
 * A generation is three days of the log, by the time at which blocks were received. A row that
 * changes moves to the table of the current generation. If a key has rows in several tables, the
 * one written in the latest generation counts. Partitions enter a generation one after another, so
 * the table of the next generation is truncated once the last of them has entered the current one,
 * unless another one is further already. A state that was touched in neither the current nor the previous generation no longer exists,
 * even if its row does. This depends only on the log, so it does not vary with how the log is split
 * into passes. Events older than a day are rejected, so no state is forgotten that an event could
 * still belong to.
 *
 * The cache is valid only while a single process writes and its transactions commit. A process that
 * loses its lease or fails must call `forget`.
 */
import { dayMs } from '../../../../platform/values/time.ts';
import type { Tx } from '../../../../platform/database/database.ts';
import { RecentRecords, type RecordCodec } from '../../statistics/recent-records.ts';
import { selectStates, upsertStates, type StateTableName } from './state-queries.ts';

export const generationMs = 3 * dayMs;

export const viewTables = ['view_state_a', 'view_state_b', 'view_state_c'] as const;
export const sessionTables = ['session_state_a', 'session_state_b', 'session_state_c'] as const;

export function generationOf(receivedAtMs: number): number {
  return Math.floor(receivedAtMs / generationMs);
}

/** Fields of every state; see `Segment` and the file header. */
type Kept = { firstAt: number; generation: number };

export type StateKind<State extends Kept> = RecordCodec<State> & {
  readonly tables: readonly [StateTableName, StateTableName, StateTableName];
  readonly remembered: number;
  readonly empty: () => State;
};

export class StateStore<State extends Kept> {
  readonly #kind: StateKind<State>;
  readonly #memory: RecentRecords<State>;

  constructor(kind: StateKind<State>) {
    this.#kind = kind;
    this.#memory = new RecentRecords(kind.remembered, kind);
  }

  /** The states of these keys (16 bytes as a string), in the order of the keys. */
  async load(tx: Tx, keys: readonly string[], generation: number): Promise<State[][]> {
    const { tables } = this.#kind;
    const states: State[][] = [];
    const found = new Map<string, number>();
    const missing = new Map<string, number>();
    for (const [index, key] of keys.entries()) {
      const state = this.#memory.get(key);
      if (state === null || isSeveral(state)) missing.set(key, index);
      states.push(state === null || isSeveral(state) ? [] : [state]);
    }
    // Newest generation first: its rows override older ones.
    for (const age of [0, 1, 2]) {
      if (missing.size === 0) break;
      const table = tableOf(tables, generation - age);
      for (const { key, state } of await selectStates(tx, table, [...missing.keys()].toSorted())) {
        const name = key.toString('latin1');
        const index = missing.get(name);
        const read = this.#read(state);
        const writtenIn = latestOf(read);
        if (index === undefined || writtenIn <= (found.get(name) ?? -1)) continue;
        states[index] = read;
        found.set(name, writtenIn);
        if (writtenIn >= generation) missing.delete(name);
      }
    }
    return states.map((kept) => kept.filter((state) => state.generation >= generation - 1));
  }

  #read(row: Buffer): State[] {
    const { sizeBytes, read } = this.#kind;
    const states: State[] = [];
    for (let at = 0; at + sizeBytes <= row.length; at += sizeBytes) states.push(read(row, at));
    return states;
  }

  async save(
    tx: Tx,
    keys: readonly string[],
    states: readonly (readonly State[])[],
    generation: number,
  ): Promise<void> {
    const { tables, sizeBytes, write } = this.#kind;
    const table = tableOf(tables, generation);
    await upsertStates(tx, table, {
      keys,
      sizesBytes: states.map((own) => own.length * sizeBytes),
      write(index, bytes, at) {
        for (const [place, state] of (states[index] ?? []).entries()) {
          write(state, bytes, at + place * sizeBytes);
        }
      },
    });
    for (const [index, key] of keys.entries()) {
      const [state, ...others] = states[index] ?? [];
      if (state === undefined) continue;
      this.#memory.set(key, others.length === 0 ? state : several(this.#kind.empty()));
    }
  }

  forget(): void {
    this.#memory.clear();
  }
}

export function tableOf(
  tables: readonly [StateTableName, StateTableName, StateTableName],
  generation: number,
): StateTableName {
  return tables[((generation % 3) + 3) % 3] ?? tables[0];
}

/** The generation in which a row was written, when a pass changed one of its states. */
export function latestOf(states: readonly Kept[]): number {
  return states.reduce((latest, state) => Math.max(latest, state.generation), -1);
}

// A cache record holds one state. For keys with several states, it only marks that they must be
// read.
function several<State extends Kept>(state: State): State {
  return { ...state, firstAt: Number.NaN };
}

function isSeveral(state: Kept): boolean {
  return Number.isNaN(state.firstAt);
}
