/**
 * Followers maintain other tables from views and sessions, in the pass that changes them. A
 * follower receives each state before and after the change and adds f(new) − f(old), as the
 * counters do.
 */
import type { Db, Tx } from '../../../../platform/database/database.ts';
import { extensionPoint } from '../../../../platform/feature/extension-point.ts';
import type { Expiry, Viewer } from '../../../../platform/projections/projection.ts';
import type { Hash } from '../../statistics/viewer-key.ts';
import type { SessionState } from './session-state.ts';
import type { ViewState } from './view-state.ts';

/** The states of one key before and after the pass. There are several if pauses have split them. */
export type Changed<State> = {
  readonly organizationId: string;
  readonly viewer: Hash;
  /** The item of a view, or `noItem` if it was deleted permanently; '' for a session. */
  readonly contentId: string;
  readonly before: readonly State[];
  readonly after: readonly State[];
};

export type EngagementChanges = {
  readonly views: readonly Changed<ViewState>[];
  readonly sessions: readonly Changed<SessionState>[];
};

export type FollowedPass = {
  readonly partitions: readonly number[];
  readonly generation: number;
};

export type EngagementFollower = {
  readonly tables: readonly string[];
  /**
   * Updates the follower's tables from the changes. The state tables still hold the states from
   * before the pass. It may only touch rows of organizations in the pass's partitions, because
   * others are written concurrently.
   */
  readonly write: (tx: Tx, changes: EngagementChanges, pass: FollowedPass) => Promise<void>;
  readonly eraseViewer: (tx: Tx, viewer: Viewer) => Promise<number>;
  readonly expire: readonly Expiry[];
  /** Prepares the copies of a rebuild before the log is read. */
  readonly carryOver: (rebuild: { readonly db: Db; readonly schema: string }) => Promise<void>;
  /**
   * Copies what is no longer in the log (days before `firstDayMs`) and what arrived while the log
   * was read, in the transaction that swaps the tables.
   */
  readonly keepOld: (tx: Tx, schema: string, firstDayMs: number) => Promise<void>;
};

/** Features register their followers here. */
export const engagementFollowers = extensionPoint<EngagementFollower>('followers of engagement');
