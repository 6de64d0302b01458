import { createContext, useContext, useMemo } from 'react';
import {
  type CustomEngagementEvent,
  type EngagementEvent,
  type EventCounts,
} from '@reelfeed/client';
import { type Connection } from './connection.ts';
import { type EventGate } from './event-gate.ts';

/** A new object for each service, key and viewer. */
export type ReelfeedContext = {
  /** Null until the device's storage has been read. */
  readonly connection: Connection | null;
  readonly gate: EventGate;
};

export const ReelfeedPlace = createContext<ReelfeedContext | null>(null);

/** Throws an `Error` outside a `ReelfeedProvider`. */
export function useReelfeed(): ReelfeedContext {
  const context = useContext(ReelfeedPlace);
  if (context === null) throw new Error('This hook must be used inside a <ReelfeedProvider>.');
  return context;
}

export type ReelfeedEvents = {
  /** Queues an event that happened now. Never throws. */
  track(event: EngagementEvent | CustomEngagementEvent): void;
  /**
   * Sends pending events immediately. Resolves when everything tracked before has been
   * acknowledged; throws like `EventSender.flush`.
   */
  flush(signal?: AbortSignal): Promise<void>;
  /** Delivery counts of all events so far; null until the device's storage has been read. */
  counts(): EventCounts | null;
};

/** Sends the app's own engagement events. They are kept on the device until acknowledged. */
export function useReelfeedEvents(): ReelfeedEvents {
  const { connection, gate } = useReelfeed();
  return useMemo(
    () => ({
      track: (event) => gate.track(event),
      flush: async (signal) => connection?.flush(signal),
      counts: () => connection?.counts ?? null,
    }),
    [connection, gate],
  );
}
