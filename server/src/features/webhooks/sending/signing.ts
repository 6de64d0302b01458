/**
 * The headers of a delivery. Two signature schemes are used in parallel: the service's own over
 * `<timestamp>.<body>`, and Standard Webhooks over `<id>.<unix seconds>.<body>`, which also
 * protects the id and the time of sending. Both cover the exact bytes of the body. A webhook may
 * also have an ed25519 key, whose signature needs no secret at the receiver.
 */
import { createHmac, sign } from 'node:crypto';
import { version } from '../../../version.ts';
import { signingKey, type SigningKey, type WebhookSigningKeys } from '../endpoints/signing-keys.ts';

const userAgent = `Reelfeed-Webhooks/${version}`;

export type SignedMessage = {
  readonly webhookId: string;
  readonly deliveryId: string;
  readonly attempt: number;
  /** Time of the event, as in the body. */
  readonly timestamp: string;
  readonly body: string;
  /** Milliseconds since 1970. */
  readonly sentAtMs: number;
  readonly isTest?: boolean;
};

/** The headers of one attempt; signatures are in the order of the keys, the current one first. */
export function signedHeaders(
  message: SignedMessage,
  { current, previous }: WebhookSigningKeys,
): Record<string, string> {
  const { webhookId, deliveryId, attempt, timestamp, body, sentAtMs, isTest = false } = message;
  const seconds = String(Math.floor(sentAtMs / 1_000));
  const payload = `${timestamp}.${body}`;
  const standardPayload = `${deliveryId}.${seconds}.${body}`;
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    'user-agent': userAgent,
    'x-service-signature': serviceSignature(current, payload),
    'x-service-timestamp': timestamp,
    'x-service-webhook-id': webhookId,
    'x-service-delivery-id': deliveryId,
    'x-service-attempt': String(attempt),
    'webhook-id': deliveryId,
    'webhook-timestamp': seconds,
    'webhook-signature': standardSignature(current, standardPayload),
  };
  const keys = [current, ...previous];
  if (isTest) headers['x-service-test'] = 'true';
  if (previous.length > 0) {
    const earlier = previous.map((key) => serviceSignature(key, payload));
    const standard = previous.map((key) => standardSignature(key, standardPayload));
    headers['x-service-signature-previous'] = earlier.join(', ');
    headers['webhook-signature'] += ` ${standard.join(' ')}`;
  }
  for (const { ed25519 } of keys) {
    if (ed25519 === null) continue;
    const signature = sign(null, Buffer.from(standardPayload), ed25519).toString('base64');
    headers['webhook-signature'] += ` v1a,${signature}`;
  }
  return headers;
}

export function serviceSignature({ text }: SigningKey, signedPayload: string): string {
  return `sha256=${createHmac('sha256', text).update(signedPayload).digest('hex')}`;
}

export function standardSignature({ bytes }: SigningKey, signedPayload: string): string {
  return `v1,${createHmac('sha256', bytes).update(signedPayload).digest('base64')}`;
}

/** The headers of a first attempt, for tools that imitate the service on a developer's machine. */
export function signWebhook(
  message: Pick<SignedMessage, 'webhookId' | 'deliveryId' | 'timestamp' | 'body'>,
  secret: string,
): Record<string, string> {
  const keys = { current: signingKey(secret), previous: [] };
  return signedHeaders({ ...message, attempt: 1, sentAtMs: Date.now() }, keys);
}
