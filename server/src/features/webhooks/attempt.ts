/** One attempt: sign, send, read the answer. At most one request goes on the wire. */
import { EgressError } from '../../platform/egress/egress-errors.ts';
import type { Egress } from '../../platform/egress/egress.ts';
import { version } from '../../version.ts';
import type { AttemptEnd } from './schedule.ts';
import { secretContext, type SecretReader } from './secrets.ts';
import { signedHeaders } from './signing.ts';

export type Outgoing = {
  readonly deliveryId: string;
  readonly body: string;
  /** Milliseconds since 1970. */
  readonly occurredAtMs: number;
};

/** Where to, and signed how. */
export type Destination = {
  readonly organizationId: string;
  readonly webhookId: string;
  readonly url: string;
  readonly sealedSecret: Buffer;
  readonly sealedPrevious: readonly Buffer[];
};

export type AttemptParts = {
  egress: Egress;
  readSecrets: SecretReader;
  /** From the start of the attempt to the last byte of the answer. */
  totalTimeoutMs: number;
};

export type AttemptResult = {
  readonly end: AttemptEnd;
  /** By the process's monotonic clock. */
  readonly startedAt: number;
  readonly endedAt: number;
  /** The beginning of the answer's body. */
  readonly response: string | null;
  /** For the log only. */
  readonly cause: unknown;
};

const mostResponseBytesRead = 65_536;
const mostResponseBytesKept = 4_096;

/** Makes an attempt. It never rejects: the signal ends it as `not made`. */
export async function attemptDelivery(
  parts: AttemptParts,
  destination: Destination,
  outgoing: Outgoing,
  attempt: number,
  signal: AbortSignal,
): Promise<AttemptResult> {
  const startedAt = performance.now();
  const ended = (end: AttemptEnd, response: string | null = null, cause: unknown = null) => ({
    end,
    startedAt,
    endedAt: performance.now(),
    response,
    cause,
  });
  const headers = trySign(parts.readSecrets, destination, outgoing, attempt);
  if (headers instanceof Error) {
    return ended({ type: 'not made', reason: 'unreadable secret' }, null, headers);
  }
  try {
    const { status, body } = await parts.egress.request(
      {
        url: destination.url,
        method: 'POST',
        headers,
        body: outgoing.body,
        totalTimeoutMs: parts.totalTimeoutMs,
        maxBodyBytes: mostResponseBytesRead,
      },
      signal,
    );
    return ended({ type: 'answered', statusCode: status }, readableText(body));
  } catch (error) {
    if (error instanceof EgressError) {
      return ended({ type: 'unanswered', failure: error.failure }, null, error);
    }
    if (signal.aborted) return ended({ type: 'not made', reason: 'given back' });
    return ended({ type: 'unanswered', failure: 'connection_error' }, null, error);
  }
}

const userAgent = `Reelfeed-Webhooks/${version}`;

function trySign(
  readSecrets: SecretReader,
  destination: Destination,
  outgoing: Outgoing,
  attempt: number,
): Record<string, string> | Error {
  const { organizationId, webhookId } = destination;
  const { deliveryId, body, occurredAtMs } = outgoing;
  try {
    const keys = readSecrets(secretContext(organizationId, webhookId), {
      current: destination.sealedSecret,
      previous: destination.sealedPrevious,
    });
    const timestamp = new Date(occurredAtMs).toISOString();
    const sentAt = new Date();
    const message = { webhookId, deliveryId, attempt, timestamp, body, sentAt };
    const headers = signedHeaders(message, keys);
    headers['user-agent'] = userAgent;
    return headers;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** Text that PostgreSQL can store: bytes that are no UTF-8, and NUL, become a replacement. */
function readableText(body: Buffer): string {
  return body.subarray(0, mostResponseBytesKept).toString('utf8').replaceAll('\0', '\uFFFD');
}
