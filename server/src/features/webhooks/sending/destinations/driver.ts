/**
 * A driver sends deliveries to one type of destination, such as HTTPS. All drivers pass the suite
 * in `conformance.ts` and connect only where `egress` permits.
 */
import type { Egress } from '../../../../platform/egress/egress.ts';
import type { EgressFailure } from '../../../../platform/egress/egress-errors.ts';
import type { RawHeaders } from '../shown-headers.ts';
import type { CertificateFacts, Credentials, Destination, OAuth } from './destination.ts';

/** A message: the exact bytes that are signed, with the signature headers. */
export type Message = {
  readonly deliveryId: string;
  readonly kind: string;
  /** Time of the event, ISO 8601. */
  readonly timestamp: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

export type Target<To extends Destination = Destination> = {
  readonly organizationId: string;
  readonly webhookId: string;
  readonly url: string;
  readonly destination: To;
  readonly credentials: Credentials;
  readonly oauth?: OAuth;
  readonly clientCertificate?: CertificateFacts;
};

export type SendOptions = {
  /** From the call to the destination's confirmation. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Called immediately before the message's first byte is sent. If it throws, nothing is sent. */
  readonly onBegin: () => void;
  /** Whether the destination is failing, so that it must not share connections with others. */
  readonly isApart?: boolean;
};

/** The destination's response; `statusCode` is null if it has no statuses. */
export type WebhookAnswer = {
  readonly statusCode: number | null;
  readonly retryAfter: string | string[] | undefined;
  readonly body: Buffer;
  /** Response headers; absent if the destination has none. */
  readonly headers?: RawHeaders;
  /** Secrets of the request to redact if the response repeats them. */
  readonly secrets?: readonly string[];
};

/**
 * Sends one message and waits for the destination's confirmation. It may be sent twice; a
 * destination that deduplicates does so by the delivery id.
 * @throws {EgressError | DestinationError}, the error of `onBegin`, or the signal's reason
 */
export type Driver<To extends Destination = Destination> = (
  target: Target<To>,
  message: Message,
  options: SendOptions,
) => Promise<WebhookAnswer>;

export type DriverParts = { readonly egress: Egress };

/** `rejected`: no stream or queue accepts the message, or the credentials are wrong. */
export type DestinationFailure = EgressFailure | 'rejected' | 'token_error';

export class DestinationError extends Error {
  override readonly name = 'DestinationError';
  readonly failure: DestinationFailure;

  constructor(failure: DestinationFailure, message: string, cause?: unknown) {
    super(message, { cause });
    this.failure = failure;
  }
}

/** The response of a broker that has confirmed a message. */
export const confirmed: WebhookAnswer = {
  statusCode: null,
  retryAfter: undefined,
  body: Buffer.alloc(0),
};

/** Replaces `{event}` in a subject or routing key by the kind. */
export function addressed(pattern: string, { kind }: Message): string {
  return pattern.replaceAll('{event}', kind);
}

/**
 * Settles with the work, the deadline or the signal, whichever comes first. The work is not
 * stopped: `onGivenUp` is called to close its resources.
 */
export async function withinDeadline<T>(
  { timeoutMs, signal }: Pick<SendOptions, 'timeoutMs' | 'signal'>,
  work: () => Promise<T>,
  onGivenUp: () => void,
): Promise<T> {
  signal.throwIfAborted();
  const working = work();
  const { promise: ended, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    reject(new DestinationError('timeout', `no confirmation within ${timeoutMs} ms`));
  }, timeoutMs);
  const onAbort = (): void => reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  let isGivenUp = true;
  try {
    return await Promise.race([working.finally(() => (isGivenUp = false)), ended]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    if (isGivenUp) {
      working.catch(() => undefined);
      onGivenUp();
    }
  }
}
