/** Engagement events and their log, which projections read. */
import type { StoredEvents } from './intake/event-intake.ts';

export { customKindPattern, isCustomKind, type CustomKind } from './custom-kinds.ts';
export type { EventDevice, LoggedEvent } from './logged-event.ts';
export { declaredKinds, type DeclaredKinds } from './intake/declared-kinds.ts';
export {
  openConfiguredLog,
  openEventLog,
  type EngagementLog,
  type EventBlock,
  type EventDraft,
  type EventProjection,
} from './engagement-log.ts';
export { forgetItemsInLog, noItem } from './erasure/forget-items.ts';
export { withoutUncounted } from './counted-events.ts';
export { erasureKey, replacementEventId } from './erasure/erasure.ts';
export {
  formatErasureRecord,
  parseErasureRecord,
  readErasureRecords,
  type ErasureRecord,
} from './erasure/erasure-records.ts';
export { requestReplays } from './erasure/replay.ts';
export { erasedId, forgetUser, withoutId } from './erasure/forget-viewer.ts';
export { entryPoints, isFixed, labelOf, otherLabel, type LabelField } from './labels.ts';
export { isCountry } from './intake/countries.ts';
export { describeEventKinds, eventKinds, type EventKind } from './intake/event-rules.ts';
export type { StoredEvents } from './intake/event-intake.ts';

/**
 * Registers a listener for blocks stored by this process, called before their requests are
 * answered. Returns a function that unregisters it.
 */
export type OnEventsStored = (listener: (blocks: readonly StoredEvents[]) => void) => () => void;
