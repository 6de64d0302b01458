/** All views and sessions that are remembered of some viewers. */
import { sql } from 'kysely';
import type { Tx } from '../../../../platform/database/database.ts';
import type { RecordCodec } from '../../statistics/recent-records.ts';
import type { Hash } from '../../statistics/viewer-key.ts';
import { viewerKeys } from '../../statistics/viewer-keys.ts';
import { readSession, sessionBytes, type SessionState } from './session-state.ts';
import type { StateTableName } from './state-queries.ts';
import { readView, viewBytes } from './view-codec.ts';
import { type ViewState } from './view-state.ts';

export type ViewerState<State> = { readonly viewer: Hash; readonly state: State };

/** States as they are in the tables, without what the current pass is about to write. */
export async function loadStatesOf(
  tx: Tx,
  viewers: readonly Hash[],
  generation: number,
): Promise<{ views: ViewerState<ViewState>[]; sessions: ViewerState<SessionState>[] }> {
  return {
    views: await load(tx, viewers, ['view_state_a', 'view_state_b'], generation, {
      sizeBytes: viewBytes,
      read: readView,
    }),
    sessions: await load(tx, viewers, ['session_state_a', 'session_state_b'], generation, {
      sizeBytes: sessionBytes,
      read: readSession,
    }),
  };
}

async function load<State extends { generation: number }>(
  tx: Tx,
  viewers: readonly Hash[],
  [even, odd]: readonly [StateTableName, StateTableName],
  generation: number,
  codec: Pick<RecordCodec<State>, 'sizeBytes' | 'read'>,
): Promise<ViewerState<State>[]> {
  const [current, before] = generation % 2 === 0 ? [even, odd] : [odd, even];
  const { sizeBytes, read } = codec;
  const found = new Map<string, ViewerState<State>[]>();
  // What is also in the current table was overtaken in the one before.
  for (const table of [before, current]) {
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
      found.set(key.toString('latin1'), states);
    }
  }
  // Others no longer exist: see state-store.ts.
  return [...found.values()].flat().filter((each) => each.state.generation >= generation - 1);
}
