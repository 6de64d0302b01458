/** Options of a sender, and what it reports. */
import type { Logger } from 'pino';
import type { Db } from '../../../platform/database/database.ts';
import type { Egress } from '../../../platform/egress/egress.ts';
import type { Hints } from '../../../platform/hints/hints.ts';
import type { Tracing } from '../../../platform/tracing/tracing.ts';
import type { Vault } from '../../../platform/secrets/vault.ts';
import type { Decision, DeliveryError } from './schedule.ts';
import type { BodyAtSending } from './attempt.ts';
import type { WebhookChanges } from '../endpoints/endpoint-changes.ts';

/** One attempt, for metrics. */
export type DeliveryReport = {
  readonly outcome: Decision['next'] | 'lost' | 'unwritten';
  readonly error: DeliveryError | null;
  /** Delay from the due time to the start of the attempt. */
  readonly lagMs: number;
  readonly durationMs: number;
};

export type SenderTiming = {
  readonly totalTimeoutMs: number;
  /** Interval between polls for due deliveries without a hint. */
  readonly pollEveryMs: number;
  readonly beatEveryMs: number;
  readonly deadAfterMs: number;
  /** How long a shutdown waits for sends in progress. */
  readonly graceMs: number;
  /** How long a shutdown then waits for the database to record their results. */
  readonly recordTimeoutMs: number;
};

export const defaultSenderTiming: SenderTiming = {
  totalTimeoutMs: 30_000,
  pollEveryMs: 500,
  beatEveryMs: 5_000,
  deadAfterMs: 15_000,
  graceMs: 10_000,
  recordTimeoutMs: 5_000,
};

export type SenderOptions = {
  readonly db: Db;
  readonly log: Logger;
  readonly egress: Egress;
  readonly vault: Vault;
  /** The delay before each attempt, in milliseconds. */
  readonly scheduleMs: readonly number[];
  readonly concurrency: number;
  /** A webhook whose attempts have all failed for this long is disabled. Default: 0, never. */
  readonly disableAfterMs?: number;
  readonly hints?: Hints;
  readonly changes?: WebhookChanges;
  /** Whether no other process can be sending, so that left-over claims are reclaimed at once. */
  readonly isOnlySender?: boolean;
  readonly bodyOf?: BodyAtSending;
  readonly tracing?: Tracing | null;
  readonly onAttempt?: (report: DeliveryReport) => void;
  readonly timing?: Partial<SenderTiming>;
};
