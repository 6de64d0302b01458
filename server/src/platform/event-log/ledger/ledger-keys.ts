import { filledUuidArray } from '../../database/binary-arrays.ts';
import type { BlockDraft, LogEntry } from '../event-log.ts';
import { keyScope, writeEventKey } from './event-key.ts';

/** The keys of all events of the drafts, in order, as `uuid[]` in PostgreSQL's binary format. */
export function ledgerKeys(drafts: readonly BlockDraft<LogEntry>[]): Buffer {
  const count = drafts.reduce((sum, { events }) => sum + events.length, 0);
  return filledUuidArray(count, (bytes, offsetOf) => {
    let index = 0;
    for (const { organizationId, events } of drafts) {
      const scope = keyScope(organizationId);
      for (const { eventId } of events) {
        writeEventKey(scope, eventId, bytes, offsetOf(index));
        index += 1;
      }
    }
  });
}
