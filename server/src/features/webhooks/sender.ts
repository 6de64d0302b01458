/**
 * The engine that sends deliveries. A delivery is in one of these states:
 *
 *   recorded with its event → ready → sending → success | failed     (ended: moved to the log)
 *                               ↑        ├────→ scheduled → ready    (its next attempt is due)
 *                               ├────────┘ released or taken back    (the attempt counts for nothing)
 *                               └──────────── success | failed       (retried by hand)
 *
 * 1. A delivery is a row from the commit of its event until retention drops it. No state is kept
 *    in memory alone, so a kill at any point loses nothing.
 * 2. At most one living sender has a delivery in `sending`: it is claimed under a row lock, and
 *    taken back only from a sender that stopped beating (`liveness.ts`).
 * 3. What is recorded about an attempt is fenced by the sender's id and the number of attempts.
 *    A sender that lost its claim changes nothing.
 * 4. A delivery is sent again only after a recorded failure, or when its sender ended between the
 *    send and the record. So a kill repeats at most the deliveries that were in `sending`.
 * 5. A shutdown records nothing as failed: what it cuts off is released, uncounted.
 * 6. At most `concurrency` quick and as many slow sends are under way (`slots.ts`), on two database
 *    connections, one that claims and one that records.
 */
import { hostname } from 'node:os';
import type { Logger } from 'pino';
import { isDatabaseAway } from '../../platform/database/database-errors.ts';
import type { Db } from '../../platform/database/database.ts';
import type { Egress } from '../../platform/egress/egress.ts';
import { background, sleep } from '../../platform/lifecycle.ts';
import { Doorbell, type JobWakeups } from '../../platform/queue/wakeups.ts';
import type { Vault } from '../../platform/vault.ts';
import { attemptDelivery, type AttemptParts, type AttemptResult } from './attempt.ts';
import { Liveness } from './liveness.ts';
import { Recorder, type EndedAttempt, type RecordFate } from './recorder.ts';
import { decide, type Decision } from './schedule.ts';
import { createSecretReader } from './secrets.ts';
import { releaseUnknownDeliveries } from './sender-queries.ts';
import { claimDeliveries, promoteDueDeliveries, type ClaimedDelivery } from './sending-queries.ts';
import { Slots, type Slot } from './slots.ts';
import { webhookDeliveries } from './webhooks.ts';

/** One attempt, for metrics. */
export type DeliveryReport = {
  readonly outcome: Decision['next'] | 'lost' | 'unwritten';
  readonly error: string | null;
  /** From the moment the attempt was due to the claim. */
  readonly lagMs: number;
  readonly durationMs: number;
};

export type SenderTiming = {
  readonly totalTimeoutMs: number;
  /** Between two looks for due deliveries when nobody nudges. */
  readonly pollEveryMs: number;
  readonly beatEveryMs: number;
  readonly deadAfterMs: number;
  /** How long a shutdown waits for the sends under way, and then for the database. */
  readonly graceMs: number;
  readonly patienceMs: number;
};

export const defaultSenderTiming: SenderTiming = {
  totalTimeoutMs: 30_000,
  pollEveryMs: 500,
  beatEveryMs: 5_000,
  deadAfterMs: 15_000,
  graceMs: 10_000,
  patienceMs: 5_000,
};

export type SenderOptions = {
  readonly db: Db;
  readonly log: Logger;
  readonly egress: Egress;
  readonly vault: Vault;
  /** The delay before each attempt, in milliseconds. */
  readonly scheduleMs: readonly number[];
  readonly concurrency: number;
  readonly wakeups?: JobWakeups;
  /** Whether no other process can be sending: what others have left is taken back at once. */
  readonly isOnlySender?: boolean;
  readonly onAttempt?: (report: DeliveryReport) => void;
  readonly timing?: Partial<SenderTiming>;
};

export type DeliverySender = AsyncDisposable & {
  /** Sends under way in this process. */
  underWay(): number;
};

/** Starts to send. Disposing lets the sends under way end, and releases those that last too long. */
export function startDeliverySender(options: SenderOptions): DeliverySender {
  return new Sender(options);
}

type Sending = { claim: ClaimedDelivery; slot: Slot; result: AttemptResult | null };

/** Sends of one webhook at a time; enough to keep a receiver 20 ms away busy at 3,000 a second. */
const mostPerWebhook = 64;
const promotedAtOnce = 1_000;

class Sender implements DeliverySender {
  readonly #options: SenderOptions;
  readonly #timing: SenderTiming;
  readonly #attempts: AttemptParts;
  readonly #slots: Slots;
  readonly #liveness: Liveness;
  readonly #recorder: Recorder;
  readonly #doorbell = new Doorbell();
  readonly #sending = new Map<string, Sending>();
  readonly #cutOff = new AbortController();
  readonly #patience = new AbortController();
  readonly #unsubscribe: (() => void) | undefined;
  readonly #claiming: AsyncDisposable;
  readonly #beating: AsyncDisposable;
  #afterWebhookId = '';
  #promotedAt = Number.NEGATIVE_INFINITY;
  #hasUnknownClaims = false;
  #inTrouble = false;
  #onIdle: (() => void) | null = null;

  constructor(options: SenderOptions) {
    const { db, log, egress, vault, concurrency, isOnlySender = false } = options;
    this.#options = options;
    this.#timing = { ...defaultSenderTiming, ...options.timing };
    const { totalTimeoutMs, deadAfterMs, beatEveryMs } = this.#timing;
    this.#attempts = { egress, readSecrets: createSecretReader(vault), totalTimeoutMs };
    this.#slots = new Slots({ total: concurrency, perWebhook: mostPerWebhook });
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
      onRecorded: (attempt, fate) => this.#finish(attempt, fate),
      patience: this.#patience.signal,
    });
    this.#unsubscribe = options.wakeups?.listen((name) => {
      if (name === webhookDeliveries) this.#doorbell.ring();
    });
    this.#beating = background('webhook sender heartbeat', (signal) => this.#beat(signal), log);
    this.#claiming = background('webhook sender', (signal) => this.#claim(signal), log);
  }

  underWay(): number {
    return this.#slots.underWay;
  }

  async #beat(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const isNew = this.#liveness.senderId === null;
      await this.#attentive(
        () => this.#liveness.beatAndLook(),
        () => this.#liveness.lostSight(),
      );
      if (isNew) this.#doorbell.ring();
      await sleep(this.#timing.beatEveryMs, signal);
    }
  }

  async #claim(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      let goesOn = false;
      await this.#attentive(
        async () => {
          goesOn = await this.#claimOnce();
        },
        () => {
          this.#hasUnknownClaims = true;
        },
      );
      // A round that stopped at its limit has the other webhooks to look at.
      if (goesOn) continue;
      const jitter = 0.8 + Math.random() * 0.4;
      await this.#doorbell.wait(this.#timing.pollEveryMs * jitter, signal);
    }
  }

  /** @returns whether there are webhooks that this round did not come to */
  async #claimOnce(): Promise<boolean> {
    const { db } = this.#options;
    const { senderId } = this.#liveness;
    if (senderId === null) return false;
    await this.#promote();
    if (this.#hasUnknownClaims) {
      await releaseUnknownDeliveries(db, senderId, [...this.#sending.keys()]);
      this.#hasUnknownClaims = false;
    }
    const { total: limit, allowances, defaultAllowance } = this.#slots.room();
    if (limit === 0) return false;
    const afterWebhookId = this.#afterWebhookId;
    const claims = await claimDeliveries(db, {
      senderId,
      limit,
      afterWebhookId,
      allowances,
      defaultAllowance,
    });
    for (const claim of claims) this.#start(senderId, claim);
    const isFull = claims.length === limit;
    this.#afterWebhookId = isFull ? latest(claims) : '';
    return !isFull && afterWebhookId !== '';
  }

  /** Under load as often as without, so that a retry is never late. */
  async #promote(): Promise<void> {
    const now = performance.now();
    if (now - this.#promotedAt < this.#timing.pollEveryMs / 2) return;
    const promoted = await promoteDueDeliveries(this.#options.db, promotedAtOnce);
    if (promoted < promotedAtOnce) this.#promotedAt = now;
    else this.#doorbell.ring();
  }

  #start(senderId: string, claim: ClaimedDelivery): void {
    const sending: Sending = { claim, slot: this.#slots.begin(claim.webhookId), result: null };
    this.#sending.set(claim.deliveryId, sending);
    const attempt = attemptNumber(claim);
    const signal = this.#cutOff.signal;
    void attemptDelivery(this.#attempts, { ...claim, attempt }, signal).then((result) => {
      sending.result = result;
      this.#recorder.add(this.#toRecord(senderId, claim, result));
    });
  }

  #toRecord(senderId: string, claim: ClaimedDelivery, result: AttemptResult): EndedAttempt {
    const { organizationId, webhookId, deliveryId, attempts } = claim;
    const { end, startedAt, endedAt } = result;
    const attempt = attemptNumber(claim);
    const { isManual } = claim;
    const decision = decide(end, { attempt, isManual }, this.#options.scheduleMs);
    const { next } = decision;
    return {
      ...{ organizationId, webhookId, deliveryId, senderId, attempts, attempt, next },
      ...{ startedAt, endedAt },
      delayMs: 'delayMs' in decision ? decision.delayMs : 0,
      statusCode: end.type === 'answered' ? end.statusCode : null,
      responseTimeMs: Math.round(endedAt - startedAt),
      error: 'error' in decision ? decision.error : null,
      // What a receiver says to a success interests nobody and would fill the log.
      response: next === 'success' ? null : result.response,
    };
  }

  /** The attempt is written down, or never will be: its slot is free. */
  #finish(attempt: EndedAttempt, fate: RecordFate): void {
    const { deliveryId, next, startedAt, endedAt } = attempt;
    const sending = this.#sending.get(deliveryId);
    this.#sending.delete(deliveryId);
    if (fate === 'unwritten') this.#hasUnknownClaims = true;
    if (sending !== undefined) {
      const result = next === 'release' ? 'not made' : next === 'success' ? 'success' : 'failure';
      this.#slots.end(sending.slot, result, endedAt - startedAt);
      this.#report(attempt, sending, fate);
    }
    this.#doorbell.ring();
    if (this.#sending.size === 0) this.#onIdle?.();
  }

  #report(attempt: EndedAttempt, { claim, result }: Sending, fate: RecordFate): void {
    const { organizationId, webhookId, deliveryId, kind, lagMs } = claim;
    const { next, error, statusCode, responseTimeMs, startedAt, endedAt } = attempt;
    const outcome = fate === 'written' ? next : fate;
    const isUnreadable = result?.end.type === 'not made' && result.end.reason !== 'shutdown';
    const level = isUnreadable ? 'error' : outcome === 'failed' ? 'warn' : 'info';
    this.#options.log[level](
      {
        ...{ organizationId, webhookId, deliveryId, event: kind },
        // The rest of a URL may hold a token.
        host: new URL(claim.url).host,
        ...{ attempt: attempt.attempt, outcome, statusCode, error, responseTimeMs },
        lagMs: Math.round(lagMs),
        ...(next === 'retry' && { nextAttemptInMs: attempt.delayMs }),
        ...(isUnreadable && { err: result.cause }),
      },
      'webhook attempt',
    );
    this.#options.onAttempt?.({ outcome, error, lagMs, durationMs: endedAt - startedAt });
  }

  /** Notices when the database is away, and logs only the changes. */
  async #attentive(work: () => Promise<void>, onTrouble: () => void): Promise<void> {
    const { log } = this.#options;
    try {
      await work();
      if (this.#inTrouble) log.info('the webhook sender reaches the database again');
      this.#inTrouble = false;
    } catch (error) {
      onTrouble();
      if (!isDatabaseAway(error)) throw error;
      if (!this.#inTrouble) log.warn({ err: error }, 'the webhook sender cannot reach the database');
      this.#inTrouble = true;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { graceMs, patienceMs } = this.#timing;
    this.#unsubscribe?.();
    await this.#claiming[Symbol.asyncDispose]();
    await this.#idle(graceMs);
    this.#cutOff.abort();
    const timer = setTimeout(() => this.#patience.abort(), patienceMs);
    await this.#idle(patienceMs + 1_000);
    await this.#recorder.settled();
    clearTimeout(timer);
    await this.#beating[Symbol.asyncDispose]();
    await this.#liveness.leave().catch((error: unknown) => {
      this.#options.log.info({ err: error }, 'the webhook sender left without a word');
    });
  }

  /** Resolves when nothing is under way, or after `ms`. */
  async #idle(ms: number): Promise<void> {
    if (this.#sending.size === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    this.#onIdle = resolve;
    await promise;
    clearTimeout(timer);
  }
}

function attemptNumber({ attempts, isManual }: ClaimedDelivery): number {
  return isManual ? attempts : attempts + 1;
}

function latest(claims: readonly ClaimedDelivery[]): string {
  return claims.reduce((found, { webhookId }) => (webhookId > found ? webhookId : found), '');
}
