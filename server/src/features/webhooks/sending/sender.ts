/**
 * The engine that sends deliveries. A delivery is in one of these states:
 *
 *   recorded with its event → ready → sending → success | failed     (ended: moved to the log)
 *                               ↑        ├────→ scheduled → ready    (its next attempt is due)
 *                  └→ held ─────→├────────┘ released or reclaimed     (the attempt is not counted)
 *                               ├──────────── parked, until the webhook subscribes to its kind again
 *                               └──────────── success | failed       (retried manually)
 *
 * 1. A delivery is a row from the commit of its event until retention drops it. No state is only in
 *    memory, so a crash at any point loses nothing.
 * 2. At most one live sender has a delivery in `sending`: it is claimed under a row lock and
 *    reclaimed only from a sender whose heartbeat stopped (`liveness.ts`).
 * 3. The record of an attempt is fenced by the sender's id and the number of attempts. A sender
 *    that lost its claim changes nothing.
 * 4. A delivery is sent again only after a recorded failure, or if its sender ended between the
 *    send and the record. A crash therefore repeats at most the deliveries that were in `sending`.
 * 5. A shutdown records nothing as failed: interrupted deliveries are released, uncounted.
 * 6. At most `concurrency` sends to quick webhooks are in flight, and fixed multiples of that to
 *    others (`slots.ts`), using two database connections: one for claims, one for records.
 * 7. No request begins under an outdated state of its webhook: see `endpoint-changes.ts`. A
 *    delivery that finds its webhook changed is released.
 * 8. With ordered deliveries, a delivery is `held` while an earlier one with the same key is
 *    `ready` or `scheduled`.
 */
import { hostname } from 'node:os';
import { Bag } from '../../../platform/memory/bag.ts';
import { background, sleep } from '../../../platform/async/lifecycle.ts';
import { Doorbell } from '../../../platform/hints/hints.ts';
import { attemptDelivery, type AttemptParts } from './attempt.ts';
import { withinSpan } from '../../../platform/tracing/tracing.ts';
import { endAttemptSpan, startAttemptSpan } from './attempt-span.ts';
import { createDrivers, type Drivers } from './destinations/drivers.ts';
import { DatabaseWatch } from './database-watch.ts';
import { Liveness } from './liveness.ts';
import type { AttemptRecord } from './record-queries.ts';
import { Recorder, type RecordFate } from './recorder.ts';
import type { NotMadeReason } from './schedule.ts';
import { createSecretReader, type SecretReader } from '../endpoints/secrets.ts';
import { defaultSenderTiming, type SenderOptions, type SenderTiming } from './sender-options.ts';
import { releaseUnknownDeliveries } from './sender-queries.ts';
import { Claimer, type Claimed } from './claimer.ts';
import {
  attemptNumber,
  logAttempt,
  newSending,
  notMade,
  reportOf,
  slotResult,
  toRecord,
  type Sending,
  type SendingWebhook,
} from './send.ts';
import { SendSlots } from './slots.ts';
import { agedStates, renewStates, renewStatesEveryMs } from './state-renewal.ts';
import type { Slot } from './webhook-load.ts';
import { OutdatedStateError, WebhookChanges } from '../endpoints/endpoint-changes.ts';
import { isSubscribed } from '../outbox/event-kinds.ts';
import { deliveriesElsewhere, webhookDeliveries } from '../outbox/outbox.ts';

export type DeliverySender = AsyncDisposable & {
  underWay(): number;
};

/**
 * Starts to send. Disposing of it waits for sends in flight, and releases those that take too long.
 */
export function startDeliverySender(options: SenderOptions): DeliverySender {
  return new Sender(options);
}

/**
 * Maximum concurrent sends per webhook, which is enough for over 3,000 per second to a receiver 20
 * ms away.
 */
const maxPerWebhook = 64;
/**
 * Interval between two claims under load. A claim costs the database half a millisecond plus a
 * tenth of that per delivery, so batching pays off. The first claim after a pause is immediate.
 */
const claimEveryMs = 4;

class Sender implements DeliverySender {
  readonly #options: SenderOptions;
  readonly #timing: SenderTiming;
  readonly #drivers: Drivers;
  readonly #attempts: AttemptParts;
  readonly #readSecrets: SecretReader;
  readonly #slots: SendSlots<Sending>;
  readonly #claimer: Claimer;
  readonly #liveness: Liveness;
  readonly #recorder: Recorder;
  readonly #database: DatabaseWatch;
  readonly #doorbell = new Doorbell();
  readonly #sending = new Bag<Sending>();
  readonly #cutOff = new AbortController();
  readonly #recordingOver = new AbortController();
  readonly #changes: WebhookChanges;
  readonly #unsubscribe: readonly ((() => void) | undefined)[];
  readonly #claiming: AsyncDisposable;
  readonly #renewing: AsyncDisposable;
  readonly #beating: AsyncDisposable;
  #hasUnknownClaims = false;
  #onIdle: (() => void) | null = null;

  constructor(options: SenderOptions) {
    const { db, log, egress, vault, concurrency, isOnlySender = false } = options;
    this.#options = options;
    this.#timing = { ...defaultSenderTiming, ...options.timing };
    const { totalTimeoutMs, deadAfterMs, beatEveryMs } = this.#timing;
    this.#drivers = createDrivers(egress);
    const { bodyOf } = options;
    this.#attempts = { send: this.#drivers.send, totalTimeoutMs, ...(bodyOf && { bodyOf }) };
    this.#database = new DatabaseWatch(log);
    this.#readSecrets = createSecretReader(vault);
    this.#claimer = new Claimer(db, this.#timing.pollEveryMs / 2);
    this.#slots = new SendSlots(
      { total: concurrency, perWebhook: maxPerWebhook },
      (sending, slot) => this.#start(sending, slot),
    );
    this.#liveness = new Liveness({
      db,
      log,
      name: `${hostname()}:${process.pid}`,
      isOnlySender,
      deadAfterMs,
      beatEveryMs,
      onTakenBack: () => this.#doorbell.ring(),
    });
    this.#recorder = new Recorder({
      db,
      log,
      disableAfterMs: options.disableAfterMs ?? 0,
      onDisabled: (webhookId) => {
        this.#changes.note(webhookId);
        this.#doorbell.ring();
      },
      givenUp: this.#recordingOver.signal,
    });
    this.#changes = options.changes ?? new WebhookChanges();
    this.#unsubscribe = [
      options.hints?.listen(webhookDeliveries, () => this.#doorbell.ring()),
      options.hints?.listen(deliveriesElsewhere, () => this.#doorbell.ring()),
      this.#changes.listen((webhookId) => this.#giveBackWaiting({ webhookId })),
    ];
    this.#beating = background('webhook sender heartbeat', (signal) => this.#beat(signal), log);
    this.#claiming = background('webhook sender', (signal) => this.#claim(signal), log);
    this.#renewing = background('webhook states', (signal) => this.#renewStates(signal), log);
  }

  underWay(): number {
    return this.#slots.underWay;
  }

  async #beat(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const isNew = this.#liveness.senderId === null;
      await this.#database.attempt(
        () => this.#liveness.beatAndLook(),
        () => this.#liveness.lostSight(),
      );
      this.#changes.sendsAs(this.#liveness.senderId);
      if (isNew) this.#doorbell.ring();
      await sleep(this.#timing.beatEveryMs, signal);
    }
  }

  async #claim(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const claimedAt = performance.now();
      let goesOn = false;
      let untilMs = this.#timing.pollEveryMs * (0.8 + Math.random() * 0.4);
      const claim = async (): Promise<void> => {
        goesOn = await this.#claimOnce();
        untilMs = Math.min(untilMs, this.#claimer.untilDueMs(), this.#slots.untilRoomMs());
      };
      await this.#database.attempt(claim, () => (this.#hasUnknownClaims = true));
      // A round that stopped at its limit has other webhooks left to look at.
      if (goesOn) continue;
      await this.#doorbell.wait(untilMs, signal);
      const pauseMs = claimEveryMs - (performance.now() - claimedAt);
      if (pauseMs > 1) await sleep(pauseMs, signal);
    }
  }

  /** @returns whether there are webhooks that this round did not reach */
  async #claimOnce(): Promise<boolean> {
    const { senderId } = this.#liveness;
    if (senderId === null) return false;
    if (await this.#claimer.promote()) this.#doorbell.ring();
    if (this.#hasUnknownClaims) {
      const known = Array.from(this.#sending, ({ claim }) => claim.deliveryId);
      await releaseUnknownDeliveries(this.#options.db, senderId, known);
      this.#hasUnknownClaims = false;
    }
    this.#giveBackWaiting('slow');
    // Sent but unrecorded deliveries count, too, which limits the repeats after a crash.
    const room = this.#slots.room(this.#sending.size);
    if (room.total === 0) return false;
    const claimed = await this.#claimer.claim(senderId, room);
    this.#enter(senderId, claimed);
    return claimed.goesOn;
  }

  async #renewStates(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await sleep(renewStatesEveryMs, signal);
      this.#slots.serve();
      const aged = agedStates(this.#sending);
      if (aged.size === 0) continue;
      await this.#database.attempt(async () => {
        const changed = await renewStates(this.#options.db, this.#liveness.senderId, aged);
        for (const webhook of changed) this.#giveBackWaiting(webhook);
      });
    }
  }

  #enter(senderId: string, { claims: { deliveries, webhooks }, readAt }: Claimed): void {
    const claimedAt = performance.now();
    const opened = new Map<string, SendingWebhook>();
    for (const [webhookId, webhook] of webhooks) {
      opened.set(webhookId, { ...webhook, ...this.#readSecrets(webhook), readAt });
      this.#slots.know(webhook);
    }
    for (const claim of deliveries) {
      const webhook = opened.get(claim.webhookId);
      if (webhook === undefined) throw new Error(`claim without its webhook: ${claim.webhookId}`);
      const sending = newSending(senderId, webhook, claim, claimedAt);
      this.#sending.add(sending);
      if (this.#cutOff.signal.aborted) this.#giveBack(sending);
      else if (!claim.isManual && !isSubscribed(webhook.events, claim.kind)) {
        this.#giveBack(sending, 'unsubscribed');
      } else this.#slots.enter(claim.webhookId, sending);
    }
  }

  #start(sending: Sending, slot: Slot): void {
    const { webhook, claim } = sending;
    const onBegin = (): void => {
      if (!this.#changes.isCurrent(webhook.webhookId, webhook.readAt)) {
        throw new OutdatedStateError();
      }
      // A driver may send twice, after fetching another token.
      if (!sending.hasBegun) this.#slots.begin(slot);
      sending.hasBegun = true;
    };
    const { isTest } = claim;
    const signal = this.#cutOff.signal;
    const isApart = slot.pool === 'slow';
    const attempt = attemptNumber(claim);
    const span = startAttemptSpan(this.#options.tracing ?? null, webhook, claim, attempt);
    const options = { attempt, isTest, isApart, signal, onBegin, traceparent: span?.traceparent };
    void attemptDelivery(this.#attempts, webhook, claim, options).then((result) => {
      sending.result = result;
      const record = toRecord(sending, result, this.#options.scheduleMs);
      endAttemptSpan(span, record);
      withinSpan(span, () => this.#record(sending, record));
      this.#slots.end(slot, slotResult(record.next));
      this.#doorbell.ring();
    });
  }

  #giveBackWaiting(which: Parameters<SendSlots<Sending>['takeWaiting']>[0]): void {
    for (const sending of this.#slots.takeWaiting(which)) this.#giveBack(sending);
  }

  #giveBack(sending: Sending, reason: NotMadeReason = 'released'): void {
    const record = toRecord(sending, notMade(reason), this.#options.scheduleMs);
    this.#record(sending, record);
  }

  #record(sending: Sending, attempt: AttemptRecord): void {
    this.#recorder.add(attempt, (fate) => this.#finish(sending, attempt, fate));
  }

  /** Called when the attempt has been recorded, or never will be. */
  #finish(sending: Sending, attempt: AttemptRecord, fate: RecordFate): void {
    this.#sending.delete(sending);
    if (fate === 'unwritten') this.#hasUnknownClaims = true;
    logAttempt(this.#options.log, attempt, sending, fate);
    this.#options.onAttempt?.(reportOf(attempt, sending, fate));
    this.#doorbell.ring();
    if (this.#sending.size === 0) this.#onIdle?.();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { graceMs, recordTimeoutMs } = this.#timing;
    for (const unsubscribe of this.#unsubscribe) unsubscribe?.();
    await this.#claiming[Symbol.asyncDispose]();
    this.#giveBackWaiting('all');
    await this.#idle(graceMs);
    this.#cutOff.abort();
    const timer = setTimeout(() => this.#recordingOver.abort(), recordTimeoutMs);
    await this.#idle(recordTimeoutMs + 1_000);
    await this.#recorder.settled();
    clearTimeout(timer);
    await this.#renewing[Symbol.asyncDispose]();
    await this.#beating[Symbol.asyncDispose]();
    await this.#drivers[Symbol.asyncDispose]();
    await this.#liveness.leave().catch((error: unknown) => {
      this.#options.log.info(
        { err: error },
        'webhook sender could not deregister; its deliveries are reclaimed after the timeout',
      );
    });
  }

  /** Resolves when nothing is in flight, or after `ms`. */
  async #idle(ms: number): Promise<void> {
    if (this.#sending.size === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    this.#onIdle = resolve;
    await promise;
    clearTimeout(timer);
  }
}
