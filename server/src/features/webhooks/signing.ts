/**
 * The headers of a delivery. Two schemes stand side by side: the service's own signature over
 * `<timestamp>.<body>`, and that of Standard Webhooks over `<id>.<unix seconds>.<body>`, which also
 * protects the id and the moment of sending. Both are over the very bytes of the body.
 */
import { createHmac, randomBytes } from 'node:crypto';

const secretPrefix = 'whsec_';
const secretBytes = 32;

export function newSecret(): string {
  return secretPrefix + randomBytes(secretBytes).toString('base64');
}

export type SigningSecrets = {
  readonly current: string;
  /** Replaced ones that receivers may still use, newest first. */
  readonly previous: readonly string[];
};

export type SignedMessage = {
  readonly webhookId: string;
  readonly deliveryId: string;
  readonly attempt: number;
  /** Of the event, as the body says it. */
  readonly timestamp: string;
  readonly body: string;
  readonly sentAt: Date;
};

/** The headers of one attempt, in the secrets' order: the current one first. */
export function signedHeaders(
  message: SignedMessage,
  { current, previous }: SigningSecrets,
): Record<string, string> {
  const { webhookId, deliveryId, attempt, timestamp, body, sentAt } = message;
  const seconds = String(Math.floor(sentAt.getTime() / 1_000));
  const standard = [current, ...previous].map((secret) =>
    standardSignature(secret, `${deliveryId}.${seconds}.${body}`),
  );
  return {
    'content-type': 'application/json',
    'x-service-signature': serviceSignature(current, `${timestamp}.${body}`),
    ...(previous.length > 0 && {
      'x-service-signature-previous': previous
        .map((secret) => serviceSignature(secret, `${timestamp}.${body}`))
        .join(', '),
    }),
    'x-service-timestamp': timestamp,
    'x-service-webhook-id': webhookId,
    'x-service-delivery-id': deliveryId,
    'x-service-attempt': String(attempt),
    'webhook-id': deliveryId,
    'webhook-timestamp': seconds,
    'webhook-signature': standard.join(' '),
  };
}

/** Keyed with the whole secret as text. */
export function serviceSignature(secret: string, signedPayload: string): string {
  return `sha256=${createHmac('sha256', secret).update(signedPayload).digest('hex')}`;
}

/** Keyed with the bytes that the secret's base64 part stands for. */
export function standardSignature(secret: string, signedPayload: string): string {
  const key = Buffer.from(secret.slice(secretPrefix.length), 'base64');
  return `v1,${createHmac('sha256', key).update(signedPayload).digest('base64')}`;
}
