/** Engagement events: their log, which projections read. */
export {
  appendToLog,
  endOfLog,
  readLog,
  startOfLog,
  UnreadableBlockError,
  type BlockDraft,
  type LogPage,
  type LogPosition,
} from './log.ts';
export {
  eventKinds,
  type EventBlock,
  type EventDevice,
  type EventKind,
  type LoggedEvent,
} from './logged-event.ts';
export { measureBacklog, type Backlog } from './log-backlog.ts';
export { describeEventKinds } from './event-rules.ts';
export type { ErasureStep, Viewer } from './erasure.ts';
export { RecentBlocks } from './recent-blocks.ts';

/** The wake-up after this process has added to the log; other processes are found by polling. */
export const eventLogGrown = 'event-log-grown';
