import type { Logger } from 'pino';

/** The service's logger or a request's. */
export type AttemptLog = Pick<Logger, 'error' | 'warn' | 'info'> &
  Partial<Pick<Logger, 'isLevelEnabled'>>;

export type AttemptLine = {
  readonly organizationId: string;
  readonly webhookId: string;
  readonly deliveryId: string;
  readonly event: string;
  readonly url: string;
  /** Counts from 1. */
  readonly attempt: number;
  readonly outcome: string;
  readonly statusCode: number | null;
  readonly error: string | null;
  readonly responseTimeMs: number | null;
  /** Delay from the due time to the start of the attempt. */
  readonly lagMs: number;
  readonly nextAttemptInMs?: number;
  readonly isTest?: true;
  /** A problem that a person must fix. */
  readonly err?: unknown;
};

export function writeAttemptLine(log: AttemptLog, line: AttemptLine): void {
  const level = 'err' in line ? 'error' : line.outcome === 'failed' ? 'warn' : 'info';
  if (log.isLevelEnabled?.(level) === false) return;
  const { url, ...fields } = line;
  // The rest of a URL may contain a token.
  log[level]({ ...fields, host: URL.parse(url)?.host ?? null }, 'webhook attempt');
}
