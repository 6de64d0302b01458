import { type RefusedEvent } from './event-request.ts';
import { type EventStorage } from './event-storage.ts';
import { type EventViewer, type TrackedEvent } from './events.ts';
import { type ServiceOptions } from './transport.ts';

export type EventSenderOptions = ServiceOptions &
  Omit<EventViewer, 'deviceId' | 'sessionId' | 'signature'> & {
    /** Your server's signature of `userId`, by a viewer key. */
    readonly userSignature?: string | undefined;
    /**
     * If omitted, it is generated once and stored by the browser. If null, events name no device
     * unless they specify one themselves.
     */
    readonly deviceId?: string | null | undefined;
    /**
     * If omitted, it is generated for each visit. If null, events name no session unless they
     * specify one themselves.
     */
    readonly sessionId?: string | null | undefined;
    /** Flushes as soon as this many events are queued (1–100). Default: 10. */
    readonly batchSize?: number | undefined;
    /** Maximum time to wait for more events, in milliseconds. Default: 5,000. */
    readonly batchInterval?: number | undefined;
    /** Whether to send queued events when the page is hidden or left. Default: true. */
    readonly flushOnBackground?: boolean | undefined;
    /**
     * Maximum number of waiting events, which are also limited to 2 MiB. Beyond this, the oldest
     * are dropped. Default: 1,000.
     */
    readonly maxWaiting?: number | undefined;
    /** Stores unacknowledged events for the next sender. */
    readonly storage?: EventStorage | undefined;
    /** Called for an event that the service rejected. */
    readonly onRefused?: ((refused: RefusedEvent) => void) | undefined;
    /** Called for an event that was dropped; see `maxWaiting` and `close`. */
    readonly onDropped?: ((event: TrackedEvent) => void) | undefined;
    /** Called if reading or writing the storage failed; sending continues without it. */
    readonly onStorageError?: ((error: unknown) => void) | undefined;
  };
