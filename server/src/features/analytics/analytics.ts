/**
 * Statistics of engagement events. This is what other features may use.
 *
 * Projections (projecting/projection.ts) turn the event log into tables; a process with the role
 * `worker` keeps them up, within a second. Reports, feed pages and ranking read the tables.
 */
export { eraseViewer } from './erasure.ts';
export { countLiveViewers } from './totals/live-viewers.ts';
export { ItemTotalsReader, type ItemTotals } from './totals/item-totals.ts';
export { viewerAffinities, type ViewerAffinities } from './viewers/affinities.ts';
