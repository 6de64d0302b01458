/**
 * Records how attempts ended, batching many in one transaction: while one batch is being committed,
 * the next one collects. Unwritten records are lost when the process is killed; their deliveries
 * are then sent again.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { BatchWriter } from '../../../platform/async/batch-writer.ts';
import { isDatabaseAway } from '../../../platform/database/database-errors.ts';
import { inTransaction, type Db } from '../../../platform/database/database.ts';
import { applyHealth, healthChanges } from './health.ts';
import { recordAttempts, type AttemptRecord } from './record-queries.ts';

/**
 * `written`; `lost` if the claim was gone, because another sender has the delivery; `unwritten` if
 * the database did not accept it.
 */
export type RecordFate = 'written' | 'lost' | 'unwritten';

export type RecorderParts = {
  db: Db;
  log: Logger;
  /** 0 means never. */
  disableAfterMs: number;
  /** Called after the commit that disabled a failing webhook. */
  onDisabled: (webhookId: string) => void;
  /** Once aborted, nothing is retried. */
  givenUp: AbortSignal;
};

type Entry = { readonly attempt: AttemptRecord; readonly onRecorded: (fate: RecordFate) => void };

const maxInBatch = 500;
/** A statement alone costs the database half a millisecond, so batching pays off. */
const gatherMs = 5;
const enough = 128;
const retryAfterMs = 250;

export class Recorder {
  readonly #parts: RecorderParts;
  readonly #writer: BatchWriter<Entry>;

  constructor(parts: RecorderParts) {
    this.#parts = parts;
    this.#writer = new BatchWriter({
      name: 'webhook attempts',
      log: parts.log,
      onFailure: 'retry',
      lingerMs: gatherMs,
      enough,
      maxBatch: maxInBatch,
      write: (batch) => this.#record(batch),
    });
  }

  add(attempt: AttemptRecord, onRecorded: (fate: RecordFate) => void): void {
    this.#writer.add({ attempt, onRecorded });
  }

  /** Resolves when everything added has been written or given up. */
  settled(): Promise<void> {
    return this.#writer.flush();
  }

  /** @returns the ids of the deliveries whose claims were still held */
  async #recordWithHealth(attempts: readonly AttemptRecord[]): Promise<Set<string>> {
    const { db, log, disableAfterMs, onDisabled } = this.#parts;
    if (healthChanges(attempts, disableAfterMs) === null) return recordAttempts(db, attempts);
    const { held, disabled } = await inTransaction(db, async (tx) => {
      const held = await recordAttempts(tx, attempts);
      const made = attempts.filter(({ deliveryId }) => held.has(deliveryId));
      const changes = healthChanges(made, disableAfterMs);
      return { held, disabled: changes && (await applyHealth(tx, changes, disableAfterMs)) };
    });
    for (const { organizationId, webhookId, failingSince } of disabled ?? []) {
      log.warn({ organizationId, webhookId, failingSince }, 'failing webhook disabled');
      onDisabled(webhookId);
    }
    return held;
  }

  /**
   * Retries until the batch is written. A batch that the database rejects is written one by one.
   */
  async #record(batch: readonly Entry[]): Promise<void> {
    const { log, givenUp } = this.#parts;
    for (;;) {
      try {
        const attempts = batch.map(({ attempt }) => attempt);
        const held = await this.#recordWithHealth(attempts);
        return report(batch, ({ deliveryId }) => (held.has(deliveryId) ? 'written' : 'lost'));
      } catch (error) {
        if (givenUp.aborted) return report(batch, () => 'unwritten');
        if (isDatabaseAway(error)) {
          await delay(retryAfterMs, undefined, { signal: givenUp }).catch(() => undefined);
        } else if (batch.length > 1) {
          for (const entry of batch) await this.#record([entry]);
          return;
        } else {
          const attempt = batch[0]?.attempt;
          log.error(
            { err: error, webhookId: attempt?.webhookId, deliveryId: attempt?.deliveryId },
            'could not record webhook attempt; the delivery will be sent again',
          );
          return report(batch, () => 'unwritten');
        }
      }
    }
  }
}

function report(batch: readonly Entry[], fateOf: (attempt: AttemptRecord) => RecordFate): void {
  for (const { attempt, onRecorded } of batch) onRecorded(fateOf(attempt));
}
