/** The log of engagement events, as everything in this feature uses it. */
import type { Db } from '../../platform/database/database.ts';
import type { BlockDraft, EventLog, LogBlock } from '../../platform/event-log/event-log.ts';
import { createPostgresLog } from '../../platform/event-log/postgres/postgres-log.ts';
import type { RecentBlocks } from '../../platform/event-log/recent-blocks.ts';
import type { Projection } from '../../platform/projections/projection.ts';
import type { LoggedEvent } from './logged-event.ts';

export type EventBlock = LogBlock<LoggedEvent>;
export type EventDraft = BlockDraft<LoggedEvent>;
export type EngagementLog = EventLog<LoggedEvent>;
/** A projection of the log of engagement events. */
export type EventProjection = Projection<LoggedEvent> & {
  /** Whether it gets events of custom kinds, which count in metrics and nowhere else. */
  readonly takesCustomKinds?: true;
};

/** @param recent blocks that this process has appended, which need not be fetched */
export function openEventLog(db: Db, recent?: RecentBlocks<LoggedEvent>): EngagementLog {
  return createPostgresLog<LoggedEvent>({ db, ...(recent !== undefined && { recent }) });
}
