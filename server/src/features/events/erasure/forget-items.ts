/**
 * Removes permanently deleted items from the event log. Their events stay without the item, because
 * they still show that a viewer was active. Projections write nothing for items that do not exist,
 * so a rebuild gives the same tables before and after.
 */
import type { LogPosition } from '../../../platform/event-log/event-log.ts';
import type { DeletedItem } from '../../../platform/feature/feature.ts';
import type { EngagementLog } from '../engagement-log.ts';
import type { LoggedEvent } from '../logged-event.ts';
import { mapTexts } from './map-texts.ts';

/** Replaces the id of any permanently deleted item. */
export const noItem = '00000000-0000-0000-0000-000000000000';

const pageLimits = { limitBlocks: 100, limitEvents: 20_000 };

/**
 * Rewrites the blocks whose events name one of the items. Reads the log of each organization once
 * from `start`, no matter how many items there are. Idempotent; a crash leaves some pages
 * rewritten.
 *
 * @returns the end of the range it has read
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

/** The event without the given ids, or the same object if it contains none. */
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
