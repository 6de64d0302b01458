/**
 * Taking items that were deleted for good out of the event log. Their events stay without the item,
 * for what else they tell: a viewer was there. No projection writes anything for an item that does
 * not exist, so a rebuild gives the same tables before and after.
 */
import type { LogPosition } from '../../../platform/event-log/event-log.ts';
import type { DeletedItem } from '../../../platform/feature.ts';
import type { EngagementLog } from '../engagement-log.ts';
import type { LoggedEvent } from '../logged-event.ts';
import { mapTexts } from './map-texts.ts';

/** Stands for any item that was deleted for good. */
export const noItem = '00000000-0000-0000-0000-000000000000';

const pageLimits = { limitBlocks: 100, limitEvents: 20_000 };

/**
 * Rewrites the blocks whose events name one of the items. It reads the log of each organization once from
 * `start` on, however many items there are. Idempotent; a kill leaves pages that were rewritten and others.
 *
 * @returns the end of what it has read
 */
export async function forgetItemsInLog(
  eventLog: EngagementLog,
  items: readonly DeletedItem[],
  start: LogPosition,
  signal: AbortSignal,
): Promise<LogPosition> {
  const byOrganization = Map.groupBy(items, ({ organizationId }) => organizationId);
  const until = await eventLog.end();
  for (const [organizationId, own] of byOrganization) {
    const ids = new Set(own.map(({ contentId }) => contentId));
    for (let from = start; ;) {
      signal.throwIfAborted();
      const page = await eventLog.rewrite(
        from,
        { ...pageLimits, organizationId, until },
        ({ text, events }) =>
          namesItem(text(), ids) ? events().map((event) => forgetItems(event, ids)) : null,
      );
      if (page.isLast) break;
      from = page.next;
    }
  }
  return until;
}

/** The event with no id of the set; the same object when it has none. */
export function forgetItems(event: LoggedEvent, ids: ReadonlySet<string>): LoggedEvent {
  const change = (text: string): string => (ids.has(text.toLowerCase()) ? noItem : text);
  const contentId = change(event.contentId);
  const data = mapTexts(event.data, { text: change }) as LoggedEvent['data'];
  return contentId === event.contentId && data === event.data
    ? event
    : { ...event, contentId, data };
}

const anId = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/gi;

/** Parsing every block would take most of the time. */
function namesItem(text: string, ids: ReadonlySet<string>): boolean {
  for (const [id] of text.matchAll(anId)) if (ids.has(id.toLowerCase())) return true;
  return false;
}
