/**
 * Sends engagement events. The states of an event:
 *
 *   waiting ──batch is due──▶ sending ──response──▶ gone: stored, or rejected and reported
 *                             sending ──no response, 408, 425, 429, 5xx──▶ waiting
 *   waiting, sending ──page is hidden──▶ parting ──response──▶ gone
 *                                        parting ──no response──▶ waiting
 *                                        beaconed ──page is shown──▶ waiting
 *   waiting ──too many──▶ gone: dropped and reported
 *
 * 1. An event gets its id and timestamp once, so sending it again never counts it twice.
 * 2. An event is removed only by a response, by exceeding the limit of waiting events, or by
 *    closing a sender without storage. A beacon has no response: its events are sent again if the
 *    page survives.
 * 3. At most one ordinary request is in flight, and none during the pause after a failure.
 * 4. A request that takes too long is followed by one of half its size.
 * 5. `track` never throws: an event that cannot be written as JSON is reported as rejected.
 * 6. The storage holds all unacknowledged events, at most a second out of date, and exact when the
 *    page is hidden.
 */
import { throwIfAborted } from './abort.ts';
import { batchBounds, batchJson, EventQueue, sizeOf, type QueuedEvent } from './event-queue.ts';
import { outcomeOf, type BatchOutcome, type RefusedEvent } from './event-request.ts';
import { type EventSenderOptions } from './event-sender-options.ts';
import { EventKeeper } from './event-storage.ts';
import {
  type CustomEngagementEvent,
  type EngagementEvent,
  type EventCounts,
  type EventViewer,
  type TrackedEvent,
} from './events.ts';
import { FlushWaiters } from './flush-waiters.ts';
import { sendFromEndingPage, watchPage } from './page-end.ts';
import { postJson } from './request.ts';
import { RequestSize } from './request-size.ts';
import { RetryPace } from './retry-pace.ts';
import { createTransport, type Transport } from './transport.ts';
import { newUuid7 } from './uuid7.ts';
import { ViewerIdentity } from './viewer-identity.ts';

const path = 'v1/events/batch';
const maxWaitingBytes = 2 * 1024 * 1024;

/** Sends engagement events in batches until each is acknowledged. */
export class EventSender {
  readonly #options: EventSenderOptions;
  readonly #transport: Transport;
  readonly #identity: ViewerIdentity;
  readonly #queue: EventQueue;
  readonly #pace: RetryPace;
  readonly #requestSize = new RequestSize(batchBounds.sizeBytes);
  readonly #keeper: EventKeeper;
  readonly #end = new AbortController();
  readonly #counts = { received: 0, refused: 0, dropped: 0 };
  readonly #waiters = new FlushWaiters();
  #request: Promise<boolean> | null = null;
  #sendTimer: ReturnType<typeof setTimeout> | undefined;
  #closing: Promise<void> | null = null;

  /** Throws `TypeError` for invalid options. */
  constructor(options: EventSenderOptions) {
    this.#options = options;
    this.#transport = createTransport(options);
    this.#identity = new ViewerIdentity(options);
    const maxWaiting = options.maxWaiting ?? 1_000;
    this.#queue = new EventQueue({ events: maxWaiting, sizeBytes: maxWaitingBytes });
    this.#pace = new RetryPace(this.#transport);
    this.#keeper = new EventKeeper(
      options.storage,
      () => this.#queue.toText(),
      (error) => queueMicrotask(() => options.onStorageError?.(error)),
    );
    for (const event of this.#keeper.load()) this.#add(event, JSON.stringify(event));
    const actions = { hidden: () => this.#onHidden(), shown: () => this.#onShown() };
    watchPage(actions, this.#end.signal);
  }

  /** The number of events by outcome so far, including those from the storage. */
  get counts(): EventCounts {
    return { waiting: this.#queue.size, ...this.#counts };
  }

  /**
   * Queues an event that happened now. Never throws: an event that cannot be written as JSON, such
   * as one with a cycle or a BigInt in `data`, is passed to `onRefused`.
   *
   * @returns the id of the event
   */
  track(event: EngagementEvent | CustomEngagementEvent): string {
    const eventId = newUuid7();
    const timestamp = new Date().toISOString();
    const { device, country, appVersion } = this.#options;
    const { ids, signature } = this.#identity;
    const viewer: EventViewer = { ...ids, device, country, appVersion };
    let tracked = { ...viewer, eventId, timestamp } as TrackedEvent;
    let json: string;
    try {
      // A signature is only valid for the user it was made for.
      const isSigned = ids.userId !== undefined && (event.userId ?? ids.userId) === ids.userId;
      tracked = { ...viewer, ...(isSigned && { signature }), ...event, eventId, timestamp };
      json = JSON.stringify(tracked);
    } catch (error) {
      this.#refuse({ event: tracked, code: 'NOT_JSON', message: messageOf(error) });
      return eventId;
    }
    if (this.#closing !== null) this.#drop(tracked);
    else this.#add(tracked, json);
    return eventId;
  }

  /**
   * Call this when the viewer logs in, and with null when the viewer logs out. Unsent events
   * without a user get this one, and browsers remember the user for the next visit.
   *
   * @param signature your server's signature of the user id, by a viewer key
   */
  identify(userId: string | null, signature?: string): void {
    const wasUnknown = this.#identity.identify(userId, signature);
    if (userId === null || !wasUnknown) return;
    this.#queue.nameUser(userId, signature);
    this.#keeper.saveSoon();
  }

  /** The default ids of events. */
  get viewer(): Pick<EventViewer, 'userId' | 'deviceId' | 'sessionId'> {
    return this.#identity.ids;
  }

  /**
   * Sends queued events without waiting for more. Resolves once everything tracked before is
   * acknowledged, no matter how long that takes. Throws the signal's reason once it is aborted, and
   * an `Error` if the sender is closed first.
   */
  async flush(signal?: AbortSignal): Promise<void> {
    throwIfAborted(signal);
    if (this.#closing !== null) throw closedTooEarly();
    await this.#waiters.wait(this.#queue.lastSequence, signal, () => {
      this.#answerWaiters();
      this.#schedule();
    });
  }

  /**
   * Writes unacknowledged events to the storage now. Pages do this automatically when they are
   * hidden; an app should call this when it moves to the background.
   */
  save(): void {
    this.#keeper.save();
  }

  /**
   * Sends queued events, trying each once more. Events that are still unacknowledged are kept in
   * the storage, or dropped if there is none. Later events are dropped.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#end.abort();
    clearTimeout(this.#sendTimer);
    await this.#request;
    this.#queue.moveAll('beaconed', 'waiting');
    let goesOn = this.#pace.pauseMs === 0;
    while (goesOn && this.#queue.batch(['waiting']).length > 0) goesOn = await this.#send();
    this.#keeper.save();
    this.#waiters.rejectAll(closedTooEarly);
    if (this.#options.storage !== undefined) return;
    for (const queued of this.#queue.clear()) this.#drop(queued.event);
  }

  #add(event: TrackedEvent, json: string): void {
    const dropped = this.#queue.add(event, json, performance.now());
    for (const one of dropped) this.#drop(one.event);
    this.#keeper.saveSoon();
    this.#answerWaiters();
    this.#schedule();
  }

  /** Sets the timer for the next request if there is something to send and nothing in flight. */
  #schedule(): void {
    clearTimeout(this.#sendTimer);
    if (this.#request !== null || this.#closing !== null) return;
    const batch = this.#nextBatch();
    const [oldest] = batch;
    if (oldest === undefined) return;
    const { batchSize = 10, batchInterval = 5_000 } = this.#options;
    const isAskedFor = this.#waiters.isAwaited(oldest.sequence);
    const isFull = batch.length < this.#queue.countIn('waiting');
    const isDue = isAskedFor || isFull || batch.length >= Math.min(batchSize, batchBounds.events);
    const waitMs = isDue ? 0 : oldest.addedAtMs + batchInterval - performance.now();
    this.#sendTimer = setTimeout(() => void this.#send(), Math.max(waitMs, this.#pace.pauseMs));
  }

  #nextBatch(): QueuedEvent[] {
    return this.#queue.batch(['waiting'], this.#requestSize.maxBytes);
  }

  /**
   * Sends one batch with an ordinary request.
   *
   * @returns whether it was acknowledged
   */
  async #send(): Promise<boolean> {
    const batch = this.#nextBatch();
    for (const queued of batch) queued.state = 'sending';
    this.#request = this.#deliver(batch, postJson(this.#transport, path, batchJson(batch)));
    const isAnswered = await this.#request;
    this.#request = null;
    this.#queue.moveAll('sending', 'waiting');
    this.#schedule();
    return isAnswered;
  }

  /** Awaits the outcome of a request, and removes the acknowledged events. */
  async #deliver(batch: readonly QueuedEvent[], request: Promise<unknown>): Promise<boolean> {
    const outcome = await outcomeOf(request);
    if (outcome.name === 'unanswered') {
      if (outcome.isTooSlow) this.#requestSize.timedOut(sizeOf(batch));
      this.#pace.failed(outcome.retryAfterMs);
      return false;
    }
    this.#pace.succeeded();
    this.#requestSize.answered();
    this.#settle(batch, outcome);
    return true;
  }

  #settle(
    batch: readonly QueuedEvent[],
    { refusalOf }: Extract<BatchOutcome, { name: 'answered' }>,
  ): void {
    for (const [index, queued] of batch.entries()) {
      // Another request was answered first.
      if (!this.#queue.remove(queued)) continue;
      const refusal = refusalOf(index);
      if (refusal === null) {
        this.#counts.received += 1;
        continue;
      }
      this.#refuse({ event: queued.event, ...refusal });
    }
    this.#keeper.saveSoon();
    this.#answerWaiters();
  }

  #refuse(refused: RefusedEvent): void {
    this.#counts.refused += 1;
    // An exception in the app's callback must not stop the sender.
    queueMicrotask(() => this.#options.onRefused?.(refused));
  }

  #drop(event: TrackedEvent): void {
    this.#counts.dropped += 1;
    queueMicrotask(() => this.#options.onDropped?.(event));
  }

  #answerWaiters(): void {
    this.#waiters.answer(this.#queue.firstSequence ?? Infinity);
  }

  #onHidden(): void {
    this.#keeper.save();
    const { flushOnBackground = true, storage } = this.#options;
    // With a storage, events can wait for the end of the pause. Without one, this is the last
    // chance.
    const canWait = storage !== undefined && this.#pace.pauseMs > 0;
    if (flushOnBackground && !canWait) this.#handOver();
    // Events that were passed to the browser are no longer due.
    this.#schedule();
  }

  /** Hands as many unacknowledged events to the browser as it accepts. */
  #handOver(): void {
    const taken = this.#queue.bytesIn(['parting', 'beaconed']);
    for (let roomBytes = batchBounds.sizeBytes - taken; roomBytes > 0;) {
      // Includes events in flight, because closing the page would abort their request.
      const batch = this.#queue.batch(['waiting', 'sending'], roomBytes);
      const sizeBytes = sizeOf(batch);
      if (batch.length === 0 || sizeBytes > roomBytes) return;
      const sent = sendFromEndingPage(this.#transport, path, batchJson(batch));
      if (sent === null) return;
      roomBytes -= sizeBytes;
      for (const queued of batch) queued.state = sent === 'beaconed' ? 'beaconed' : 'parting';
      if (sent !== 'beaconed') void this.#awaitParting(batch, sent);
    }
  }

  async #awaitParting(batch: readonly QueuedEvent[], sent: Promise<unknown>): Promise<void> {
    if (!(await this.#deliver(batch, sent))) {
      for (const queued of batch) queued.state = 'waiting';
    }
    this.#schedule();
  }

  #onShown(): void {
    this.#queue.moveAll('beaconed', 'waiting');
    this.#schedule();
  }
}

function messageOf(error: unknown): string {
  return `The event cannot be serialized as JSON: ${error instanceof Error ? error.message : 'unknown error'}`;
}

function closedTooEarly(): Error {
  return new Error('The event sender was closed before all events were acknowledged.');
}
