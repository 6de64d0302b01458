/** A service that receives events, and senders to it. */
import { type TestContext } from 'node:test';
import { createItems } from '../../server/test/seed.ts';
import { startService, type TestService } from '../../server/test/service.ts';
import { openStoredEvents, type StoredEvents } from '../../server/test/stored-events.ts';
import {
  EventSender,
  type EngagementEvent,
  type EventSenderOptions,
  type RefusedEvent,
  type TrackedEvent,
} from './client.ts';

export type Heard = {
  readonly sender: EventSender;
  readonly refused: RefusedEvent[];
  readonly dropped: TrackedEvent[];
};

export type EventService = {
  readonly service: TestService;
  readonly contentId: string;
  readonly otherId: string;
  readonly stored: StoredEvents;
  /** The ids of events stored since the last call. */
  readonly storedIds: () => Promise<string[]>;
  /** A sender to the service, or to `baseUrl`, that is closed at the end of the test. */
  readonly startSender: (context: TestContext, options?: Partial<EventSenderOptions>) => Heard;
  readonly like: (fields?: Partial<EngagementEvent>) => EngagementEvent;
};

/** Starts the service with two items. */
export async function startEventService(): Promise<EventService> {
  const service = await startService({ REELFEED_ROLES: 'api' });
  const stored = await openStoredEvents(service);
  const [contentId = '', otherId = ''] = await createItems(service, 2);
  return {
    service,
    contentId,
    otherId,
    stored,
    storedIds: async () => (await stored.fresh()).map(({ eventId }) => eventId),
    startSender(context, options = {}) {
      const refused: RefusedEvent[] = [];
      const dropped: TrackedEvent[] = [];
      const sender = new EventSender({
        baseUrl: service.url,
        publishableKey: service.publishableKey,
        sessionId: 'session-1',
        retryDelayMs: 20,
        timeoutMs: 5_000,
        onRefused: (event) => refused.push(event),
        onDropped: (event) => dropped.push(event),
        ...options,
      });
      context.after(() => sender.close());
      return { sender, refused, dropped };
    },
    like: (fields = {}) => ({ event: 'like', contentId, ...fields }) as EngagementEvent,
  };
}
