/**
 * Many items at once: choosing and changing them, exporting them, and what their permanent deletion
 * leaves to purge. This file is the interface for features that work on sets of items.
 */
export { deleteApplied, lockAndJudge, updateApplied } from './change-parts.ts';
export {
  countPurges,
  findPending,
  forgetPurged,
  listPurges,
  markPurged,
  type DeletedItem,
  type PendingPosition,
  type PurgeRow,
  type PurgeStatus,
} from './deleted-items.ts';
export { listForExport, type ExportedItem } from './export-queries.ts';
export { matchingItems, type ContentFilter } from './filter.ts';
export {
  mergeMetadataOf,
  toItemChange,
  type ItemChange,
  type RequestedItem,
} from './item-change.ts';
export { ensureStatistics } from '../queries.ts';
