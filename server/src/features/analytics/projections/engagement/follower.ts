/**
 * Other tables that are made from views and sessions, in the pass that changes these: whoever follows
 * is told of each state as it was and as it is, and adds f(new) − f(old), as the counters do.
 */
import type { Db, Tx } from '../../../../platform/database/database.ts';
import { extensionPoint } from '../../../../platform/extension-point.ts';
import type { Expiry, Viewer } from '../../../../platform/projections/projection.ts';
import type { Hash } from '../../statistics/viewer-key.ts';
import type { SessionState } from './session-state.ts';
import type { ViewState } from './view-state.ts';

/** The states of one key before the pass and behind it: several where silence has cut them apart. */
export type Changed<State> = {
  readonly organizationId: string;
  readonly viewer: Hash;
  /** The item of a view, or `noItem` if it was deleted permanently; '' for a session. */
  readonly contentId: string;
  readonly before: readonly State[];
  readonly after: readonly State[];
};

/** What a pass has changed. */
export type EngagementChanges = {
  readonly views: readonly Changed<ViewState>[];
  readonly sessions: readonly Changed<SessionState>[];
};

/** For which partitions a pass is written, and the generation of its states. */
export type FollowedPass = {
  readonly partitions: readonly number[];
  readonly generation: number;
};

export type EngagementFollower = {
  readonly tables: readonly string[];
  /**
   * Writes what follows from the changes. The tables of states are still as they were before the pass. It
   * may touch rows of organizations in the pass's partitions alone: others are written at the same time.
   */
  readonly write: (tx: Tx, changes: EngagementChanges, pass: FollowedPass) => Promise<void>;
  readonly eraseViewer: (tx: Tx, viewer: Viewer) => Promise<number>;
  readonly expire: readonly Expiry[];
  /** Prepares the copies of a rebuild, before the log is read. */
  readonly carryOver: (rebuild: { readonly db: Db; readonly schema: string }) => Promise<void>;
  /**
   * Takes over what the log has lost, days before `firstDayMs`, and what came while the log was read,
   * in the transaction that swaps the tables.
   */
  readonly keepOld: (tx: Tx, schema: string, firstDayMs: number) => Promise<void>;
};

/** Features contribute their followers here. */
export const engagementFollowers = extensionPoint<EngagementFollower>('followers of engagement');
