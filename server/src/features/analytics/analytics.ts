/**
 * Statistics of engagement events. This file is the interface for other features.
 *
 * Projections (projections/) turn the event log into tables. A process with the role `worker` keeps
 * them up to date within a second. Reports, feed pages and ranking read the tables.
 */
export { byCountMetric } from './projections/engagement/counted-kinds.ts';
export { watchOf, type ViewWatch } from './projections/engagement/contribution.ts';
export {
  engagementFollowers,
  type Changed,
  type EngagementChanges,
  type EngagementFollower,
} from './projections/engagement/follower.ts';
export type { SessionState } from './projections/engagement/session-state.ts';
export { readLinks, readPeople, type UsersOfDevices } from './projections/links/link-queries.ts';
export { selectMarks } from './projections/reactions/reaction-queries.ts';
export { readFirstDays } from './reports/filtered-people.ts';
export { bucketIndex, bucketsOf, readLocalNow, readPeriod, type Period } from './reports/period.ts';
export { Report } from './reports/metric-schemas.ts';
export { loadStatesOf } from './projections/engagement/viewer-states.ts';
export { readDailyMetrics, readFilteredDailyMetrics } from './reports/daily-metrics.ts';
export { filterNames, findFilteredItems, readFilter, type ReportFilter } from './reports/filter.ts';
export { experimentVariants, variantReader, type VariantsOf } from './reports/dimensions.ts';
export { readAsOf } from './reports/answer.ts';
export {
  isCount,
  isUnanswerable,
  readWindows,
  watchedMetrics,
  watchedReports,
  type WatchedMetric,
  type WindowValue,
} from './reports/metric-windows.ts';
export { filterQuery } from './reports/query-schemas.ts';
export { readBreakdown } from './reports/breakdown.ts';
export {
  parametersOf,
  runnableReportNames,
  savedParameters,
  type ReportRun,
  type RunnableReport,
  type RunReport,
} from './reports/runnable-reports.ts';
export { audienceShare } from './totals/audience-share.ts';
export { totalPlays } from './totals/totals-queries.ts';
export { ItemTotalsReader, type ItemTotals } from './totals/item-totals.ts';
export { viewedContentOf, type ViewState } from './projections/engagement/view-state.ts';
export type { EventProjection } from '../events/events.ts';
export {
  hashViewer,
  memberOf,
  partitionKeyOf,
  viewerOf,
  type Hash,
  type ViewerIds,
} from './statistics/viewer-key.ts';
export { erasedKeys, viewerKeyOf, viewerKeys } from './statistics/viewer-keys.ts';

export {
  selectExistingContent,
  type ContentKey,
} from './projections/engagement/counter-queries.ts';
