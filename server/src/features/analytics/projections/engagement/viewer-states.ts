/** All stored views and sessions of given viewers. */
import { sql } from 'kysely';
import type { Tx } from '../../../../platform/database/database.ts';
import type { RecordCodec } from '../../statistics/recent-records.ts';
import type { Hash } from '../../statistics/viewer-key.ts';
import { viewerKeys } from '../../statistics/viewer-keys.ts';
import { selectSessionDevices } from './session-device-queries.ts';
import { readSession, sessionBytes, viewerOfSession, type SessionState } from './session-state.ts';
import type { StateTableName } from './state-queries.ts';
import { latestOf, sessionTables, tableOf, viewTables } from './state-store.ts';
import { readView, viewBytes } from './view-codec.ts';
import { type ViewState } from './view-state.ts';

export type ViewerState<State> = { readonly viewer: Hash; readonly state: State };

/** States from the tables, without what the current pass is about to write. */
export async function loadStatesOf(
  tx: Tx,
  viewers: readonly Hash[],
  generation: number,
): Promise<{ views: ViewerState<ViewState>[]; sessions: ViewerState<SessionState>[] }> {
  return {
    views: await load(tx, viewers, viewTables, generation, {
      sizeBytes: viewBytes,
      read: readView,
    }),
    sessions: await loadSessionsOf(tx, viewers, generation),
  };
}

/** Sessions are stored under their devices and belong to the user they name. */
async function loadSessionsOf(
  tx: Tx,
  viewers: readonly Hash[],
  generation: number,
): Promise<ViewerState<SessionState>[]> {
  const owners = new Set([...viewers, ...(await selectSessionDevices(tx, viewers))]);
  const found = await load(tx, [...owners], sessionTables, generation, {
    sizeBytes: sessionBytes,
    read: readSession,
  });
  const wanted = new Set(viewers);
  return found
    .map(({ viewer: owner, state }) => ({ viewer: viewerOfSession(state, owner), state }))
    .filter(({ viewer }) => wanted.has(viewer));
}

async function load<State extends { firstAt: number; generation: number }>(
  tx: Tx,
  viewers: readonly Hash[],
  tables: readonly [StateTableName, StateTableName, StateTableName],
  generation: number,
  codec: Pick<RecordCodec<State>, 'sizeBytes' | 'read'>,
): Promise<ViewerState<State>[]> {
  const { sizeBytes, read } = codec;
  const found = new Map<string, ViewerState<State>[]>();
  for (const age of [0, 1, 2]) {
    const table = tableOf(tables, generation - age);
    const { rows } = await sql<{ viewer_key: Buffer; key: Buffer; state: Buffer }>`
      select wanted.viewer_key, found.key, found.state
      from unnest(${viewerKeys(viewers)}::bytea[]) as wanted (viewer_key)
      cross join lateral (
        select key, state from ${sql.table(table)}
        where key between wanted.viewer_key || '\\x0000000000000000'::bytea
          and wanted.viewer_key || '\\xffffffffffffffff'::bytea
      ) found`.execute(tx);
    for (const { viewer_key, key, state } of rows) {
      const viewer = viewer_key.toString('latin1');
      const states: ViewerState<State>[] = [];
      for (let at = 0; at + sizeBytes <= state.length; at += sizeBytes) {
        states.push({ viewer, state: read(state, at) });
      }
      // The most recently written row of a key has all its states.
      const name = key.toString('latin1');
      const known = (found.get(name) ?? []).map((each) => each.state);
      if (latestOf(states.map((each) => each.state)) > latestOf(known)) found.set(name, states);
    }
  }
  // Older states no longer exist; see state-store.ts.
  return [...found.values()].flat().filter((each) => each.state.generation >= generation - 1);
}
