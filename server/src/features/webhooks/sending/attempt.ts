/** One attempt: sign, send, read the response. At most one request is sent. */
import { EgressError } from '../../../platform/egress/egress-errors.ts';
import { hidden } from '../../../platform/http/secret-fields.ts';
import type { OpenedSecrets } from '../endpoints/secrets.ts';
import type { WebhookOptions } from '../endpoints/options.ts';
import { https } from './destinations/destination.ts';
import { DestinationError, type WebhookAnswer, type Driver } from './destinations/driver.ts';
import { readRetryAfter, type AttemptEnd } from './schedule.ts';
import {
  hiddenValues,
  shownHeaders,
  type AttemptHeaders,
  type RawHeaders,
} from './shown-headers.ts';
import { signedHeaders } from './signing.ts';
import { OutdatedStateError } from '../endpoints/endpoint-changes.ts';

export type Outgoing = {
  readonly deliveryId: string;
  readonly kind: string;
  readonly body: string;
  /** Milliseconds since 1970. */
  readonly occurredAtMs: number;
};

/** The target and its signing keys, which are an error if the secret can't be decrypted. */
type Destination = OpenedSecrets & {
  readonly organizationId: string;
  readonly webhookId: string;
  readonly url: string;
  readonly options: WebhookOptions;
};

export type AttemptParts = {
  send: Driver;
  /** Limit from the start of the attempt to the last byte of the response. */
  totalTimeoutMs: number;
  /** Builds the body if the stored one only references its data. */
  bodyOf?: BodyAtSending;
};

export type BodyAtSending = (
  organizationId: string,
  delivery: Pick<Outgoing, 'kind' | 'body'>,
) => Promise<string>;

export type AttemptOptions = {
  /** Counts from 1. */
  readonly attempt: number;
  readonly isTest?: boolean;
  /** See `SendOptions`. */
  readonly isApart?: boolean;
  readonly signal: AbortSignal;
  /** Sent to the receiver, so that its work can join the trace; omitted without tracing. */
  readonly traceparent?: string | undefined;
  /**
   * Called once connected, immediately before the first byte is sent. Throws `OutdatedStateError`
   * if the request must no longer start.
   */
  readonly onBegin: () => void;
};

export type AttemptResult = {
  readonly end: AttemptEnd;
  /** By the process's monotonic clock. */
  readonly startedAt: number;
  readonly endedAt: number;
  /** Beginning of the response body; null if the attempt succeeded and is not a test. */
  readonly response: string | null;
  readonly headers: AttemptHeaders;
  /** For the log only. */
  readonly cause: unknown;
};

const maxResponseBytesKept = 4_096;
/** Shorter values, such as a tenant's name, occur in ordinary words. */
const minSecretCharacters = 8;

/** Makes an attempt. Never rejects: an abort or a failing `onBegin` ends it as `not made`. */
export async function attemptDelivery(
  parts: AttemptParts,
  destination: Destination,
  outgoing: Outgoing,
  { attempt, isTest = false, isApart = false, signal, traceparent, onBegin }: AttemptOptions,
): Promise<AttemptResult> {
  const startedAt = performance.now();
  const { webhookId, keys, headers, options } = destination;
  let sent: RawHeaders | null = null;
  const ended = (end: AttemptEnd, cause: unknown = null, answer: WebhookAnswer | null = null) => {
    const hide = secretHider([...Object.values(headers), ...(answer?.secrets ?? [])]);
    return {
      end,
      startedAt,
      endedAt: performance.now(),
      // Only test sends show the response to a success.
      response:
        answer !== null && (isTest || !isSuccess(end)) ? readableText(answer.body, hide) : null,
      headers: shownHeaders(sent, answer?.headers ?? null, hide ?? ((text) => text)),
      cause,
    };
  };
  if (keys instanceof Error) {
    return ended({ type: 'not made', reason: 'unreadable secret' }, keys);
  }
  const { deliveryId, kind, occurredAtMs } = outgoing;
  try {
    const body = (await parts.bodyOf?.(destination.organizationId, outgoing)) ?? outgoing.body;
    const timestamp = new Date(occurredAtMs).toISOString();
    const sentAtMs = Date.now();
    const message = { webhookId, deliveryId, attempt, timestamp, body, sentAtMs, isTest };
    const signed = signedHeaders(message, keys);
    const begin = (): void => {
      onBegin();
      // Objects in a bucket have no headers.
      if (options.destination?.type === 's3') return;
      sent = {
        ...hiddenValues(headers),
        ...(options.oauth !== undefined && { authorization: hidden }),
        ...signed,
      };
    };
    const answer = await parts.send(
      { ...destination, ...options, destination: options.destination ?? https },
      {
        deliveryId,
        kind,
        timestamp,
        body,
        headers: { ...headers, ...signed, ...(traceparent !== undefined && { traceparent }) },
      },
      { timeoutMs: timeoutOf(options, parts), signal, onBegin: begin, isApart },
    );
    const { statusCode, retryAfter } = answer;
    if (statusCode === null) return ended({ type: 'confirmed', statusCode });
    const retryAfterMs = readRetryAfter(statusCode, retryAfter, Date.now());
    return ended({ type: 'answered', statusCode, retryAfterMs }, null, answer);
  } catch (error) {
    if (error instanceof EgressError) {
      const { failure, statusCode } = error;
      return ended({ type: 'unanswered', failure, statusCode }, error);
    }
    if (error instanceof DestinationError) {
      return ended({ type: 'unanswered', failure: error.failure, statusCode: null }, error);
    }
    if (error instanceof OutdatedStateError || signal.aborted) {
      return ended({ type: 'not made', reason: 'released' });
    }
    const failure = 'connection_error' as const;
    return ended({ type: 'unanswered', failure, statusCode: null }, error);
  }
}

/** The webhook's timeout, capped by the service's limit. */
function timeoutOf({ timeout }: WebhookOptions, { totalTimeoutMs }: AttemptParts): number {
  return timeout === undefined ? totalTimeoutMs : Math.min(timeout * 1_000, totalTimeoutMs);
}

function isSuccess(end: AttemptEnd): boolean {
  return end.type === 'answered' && end.statusCode >= 200 && end.statusCode <= 299;
}

/**
 * Redacts custom header values and tokens from a response, since they may be secret and the text is
 * stored and shown. Returns null if there are none.
 */
function secretHider(values: readonly string[]): ((text: string) => string) | null {
  const secrets = values
    .flatMap((value) => [value, ...value.split(' ')])
    .filter(({ length }) => length >= minSecretCharacters);
  if (secrets.length === 0) return null;
  return (text) => {
    let shown = text;
    for (const secret of secrets) {
      const escaped = JSON.stringify(secret).slice(1, -1);
      shown = shown.replaceAll(secret, hidden).replaceAll(escaped, hidden);
    }
    return shown;
  };
}

/** Text that PostgreSQL can store: invalid UTF-8 and NUL are replaced. */
function readableText(body: Buffer, hide: ((text: string) => string) | null): string {
  if (body.length === 0) return '';
  const bytes = hide === null ? body : Buffer.from(hide(body.toString('utf8')));
  return bytes.subarray(0, maxResponseBytesKept).toString('utf8').replaceAll('\0', '\uFFFD');
}
