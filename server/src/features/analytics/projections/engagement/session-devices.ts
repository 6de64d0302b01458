/**
 * Tracks the devices on which users have had sessions: a user's sessions are stored under their
 * devices, and these pairs are used to find them.
 */
import type { Tx } from '../../../../platform/database/database.ts';
import type { Touched, TouchedSession } from './count-changes.ts';
import {
  deleteSessionDevice,
  deleteSessionDevicesOf,
  selectSessionDevices,
  selectSessionsOf,
  type SessionDevice,
} from './session-device-queries.ts';
import { readSession, sessionBytes, type SessionState } from './session-state.ts';
import { sessionTables } from './state-store.ts';

/** The pairs of sessions that are new, or new in their generation. */
export function devicesOf(
  touched: Touched<TouchedSession>,
  before: readonly SessionState[][],
  after: readonly SessionState[][],
  generation: number,
): SessionDevice[] {
  const pairs = new Map<string, SessionDevice>();
  for (const [index, sessions] of after.entries()) {
    const device = touched.values[index]?.hash ?? '';
    for (const { user } of sessions) {
      // Without a device, the session is stored under its user.
      if (user.value === '' || user.value === device) continue;
      const isKnown = before[index]?.some(
        (known) => known.user.value === user.value && known.generation === generation,
      );
      if (isKnown === true) continue;
      pairs.set(`${user.value}${device}`, { user: user.value, device });
    }
  }
  // Sorted like all row writes, to avoid deadlocks.
  return [...pairs].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, pair]) => pair);
}

/**
 * Removes the sessions of an erased user that are stored under devices.
 *
 * @returns the number of rows
 */
export async function forgetSessionsOf(tx: Tx, userKey: Buffer): Promise<number> {
  const user = userKey.toString('latin1');
  let removed = 0;
  for (const device of await selectSessionDevices(tx, [user])) {
    for (const table of sessionTables) {
      for (const { key, state } of await selectSessionsOf(tx, table, device)) {
        if (!namesUser(state, user)) continue;
        await deleteSessionDevice(tx, table, key);
        removed += 1;
      }
    }
  }
  await deleteSessionDevicesOf(tx, userKey);
  return removed;
}

function namesUser(row: Buffer, user: string): boolean {
  for (let at = 0; at + sessionBytes <= row.length; at += sessionBytes) {
    if (readSession(row, at).user.value === user) return true;
  }
  return false;
}
