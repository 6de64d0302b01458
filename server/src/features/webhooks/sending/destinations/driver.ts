/**
 * A driver sends a delivery to its destination. HTTPS is one of several; all pass the suite in
 * `conformance.ts`. Egress rules hold for each: a driver connects only where `egress` lets it.
 */
import type { Egress } from '../../../../platform/egress/egress.ts';
import type { EgressFailure } from '../../../../platform/egress/egress-errors.ts';
import type { RawHeaders } from '../shown-headers.ts';
import type { ClientCertificate, Credentials, Destination, OAuth } from './destination.ts';

/** What is sent: the very bytes that are signed, and the headers that say so. */
export type Message = {
  readonly deliveryId: string;
  readonly kind: string;
  /** Of the event, ISO 8601. */
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
  readonly clientCertificate?: ClientCertificate;
};

export type SendOptions = {
  /** From the call to the destination's confirmation. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Called right before the first byte of the message is sent; nothing is sent when it throws. */
  readonly onBegin: () => void;
  /** Whether the destination fails, so that others should not share its connections. */
  readonly isApart?: boolean;
};

/** What the destination has said; `statusCode` is null where there are no statuses. */
export type Answer = {
  readonly statusCode: number | null;
  readonly retryAfter: string | string[] | undefined;
  readonly body: Buffer;
  /** Of the answer; absent where the destination has none. */
  readonly headers?: RawHeaders;
  /** What the request carried and must not be shown if the answer repeats it. */
  readonly secrets?: readonly string[];
};

/**
 * Sends one message and waits until the destination has confirmed it. It may be sent twice: a
 * destination that can tell knows the repeat by the delivery's id.
 *
 * @throws EgressError, DestinationError, what `onBegin` throws, or the signal's reason
 */
export type Driver<To extends Destination = Destination> = (
  target: Target<To>,
  message: Message,
  options: SendOptions,
) => Promise<Answer>;

export type DriverParts = { readonly egress: Egress };

/** `rejected`: no stream or queue takes the message, or the credentials are wrong. */
export type DestinationFailure = EgressFailure | 'rejected' | 'token_error';

export class DestinationError extends Error {
  override readonly name = 'DestinationError';
  readonly failure: DestinationFailure;

  constructor(failure: DestinationFailure, message: string, cause?: unknown) {
    super(message, { cause });
    this.failure = failure;
  }
}

/** The answer of a broker that has confirmed a message. */
export const confirmed: Answer = { statusCode: null, retryAfter: undefined, body: Buffer.alloc(0) };

/** `{event}` in a subject or a routing key stands for the kind. */
export function addressed(pattern: string, { kind }: Message): string {
  return pattern.replaceAll('{event}', kind);
}

/**
 * Ends with the work, the deadline or the signal, whichever is first. The work is not stopped:
 * `onGivenUp` is called to close what it uses.
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
