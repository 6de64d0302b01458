/**
 * For servers that receive webhooks: verifies that a request comes from the service, and returns
 * its content. Needs Node's crypto, and must not run in a browser, where secrets must never be.
 */
import { Buffer } from 'node:buffer';
import { createHmac, createPublicKey, timingSafeEqual, verify, type KeyObject } from 'node:crypto';
import { type WebhookEvent } from './webhook-events.ts';

export type VerifyWebhookOptions = {
  /**
   * Maximum difference between the sending time and now in seconds, in either direction. Default
   * 300. Infinity accepts requests of any age, such as recorded ones in tests.
   */
  readonly toleranceSeconds?: number;
};

/** Headers as provided by Node, Express and Fastify, or by `fetch`. */
export type WebhookHeaders =
  | Headers
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** The request doesn't come from the service, is too old, or was modified. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
}

/**
 * Verifies a delivery and returns its content.
 *
 * Both signatures of the service must be valid: its own over the body and the time of the event,
 * and that of Standard Webhooks, which also covers the delivery's id and the sending time, so that
 * a recorded request can't be replayed later or under another id. Signatures are compared in
 * constant time. While a secret is being replaced, either one is sufficient.
 *
 * For a webhook that signs with ed25519, pass its public key (`whpk_…`) instead of a secret. That
 * signature covers the id, the sending time and the body.
 *
 * @param rawBody the bytes as received, not an object that was parsed and serialized again
 * @param secrets the secret of the webhook (`whsec_…`) or its public key (`whpk_…`), or several
 * @throws WebhookVerificationError
 * @throws TypeError for secrets that can't be the service's
 */
export function verifyWebhook<Data = unknown>(
  rawBody: string | Uint8Array,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
  options: VerifyWebhookOptions = {},
): WebhookEvent<Data> {
  const all = typeof secrets === 'string' ? [secrets] : secrets;
  const isKey = (key: string) =>
    /^whsec_[A-Za-z0-9+/]{32,}={0,2}$/.test(key) || /^whpk_[A-Za-z0-9+/]{43}=$/.test(key);
  if (all.length === 0 || !all.every(isKey)) {
    throw new TypeError(
      'A secret starts with whsec_ and a public key with whpk_. Pass the complete value that the service returned.',
    );
  }
  const keys = all.filter((key) => key.startsWith('whsec_'));
  const publicKeys = all.filter((key) => key.startsWith('whpk_'));
  const body = typeof rawBody === 'string' ? Buffer.from(rawBody) : Buffer.from(rawBody);
  const eventTimestamp = requireHeader(headers, 'x-service-timestamp');
  const deliveryId = requireHeader(headers, 'webhook-id');
  const sentAt = requireHeader(headers, 'webhook-timestamp');
  requireFresh(sentAt, options.toleranceSeconds ?? 300);

  const standard = requireHeader(headers, 'webhook-signature').split(' ');
  const signed = Buffer.concat([Buffer.from(`${deliveryId}.${sentAt}.`), body]);
  if (publicKeys.some((key) => isSignedBy(publicKey(key), signed, standard))) {
    return { ...parseBody(body), deliveryId } as WebhookEvent<Data>;
  }
  const own = [
    ...requireHeader(headers, 'x-service-signature').split(','),
    ...(readHeader(headers, 'x-service-signature-previous') ?? '').split(','),
  ];
  requireSignature(
    own,
    keys.map((key) => `sha256=${hmac(key, `${eventTimestamp}.`, body).toString('hex')}`),
  );
  requireSignature(
    standard,
    keys.map((key) => {
      const bytes = Buffer.from(key.slice('whsec_'.length), 'base64');
      return `v1,${hmac(bytes, `${deliveryId}.${sentAt}.`, body).toString('base64')}`;
    }),
  );
  return { ...parseBody(body), deliveryId } as WebhookEvent<Data>;
}

/** A public key of 32 bytes in the format that Node reads (RFC 8410, 4). */
function publicKey(text: string): KeyObject {
  const head = Buffer.from('302a300506032b6570032100', 'hex');
  const bytes = Buffer.from(text.slice('whpk_'.length), 'base64');
  return createPublicKey({ key: Buffer.concat([head, bytes]), format: 'der', type: 'spki' });
}

function isSignedBy(key: KeyObject, signed: Buffer, given: readonly string[]): boolean {
  return given
    .slice(0, 32)
    .filter((one) => one.startsWith('v1a,'))
    .some((one) => verify(null, signed, key, Buffer.from(one.slice('v1a,'.length), 'base64')));
}

function hmac(key: string | Buffer, prefix: string, body: Buffer): Buffer {
  return createHmac('sha256', key).update(prefix).update(body).digest();
}

/** At least one given signature must equal an expected one; every pair is compared. */
function requireSignature(given: readonly string[], right: readonly string[]): void {
  let matches = 0;
  for (const one of given.slice(0, 32)) {
    const bytes = Buffer.from(one.trim());
    for (const other of right) {
      const expected = Buffer.from(other);
      if (bytes.length === expected.length && timingSafeEqual(bytes, expected)) matches += 1;
    }
  }
  if (matches === 0) throw new WebhookVerificationError('No signature matches.');
}

function requireFresh(sentAt: string, toleranceSeconds: number): void {
  const seconds = /^\d{1,12}$/.test(sentAt) ? Number(sentAt) : Number.NaN;
  if (Number.isNaN(seconds)) {
    throw new WebhookVerificationError('The webhook-timestamp header is not a number of seconds.');
  }
  if (Math.abs(Date.now() / 1_000 - seconds) > toleranceSeconds) {
    throw new WebhookVerificationError(
      'The webhook-timestamp header is too far from the current time: the request is too old, or a clock is wrong.',
    );
  }
}

function readHeader(headers: WebhookHeaders, name: string): string | null {
  if (headers instanceof Headers) return headers.get(name);
  // Frameworks give header names in lower case; a plain object may use any case.
  const found = Object.entries(headers).filter(([key]) => key.toLowerCase() === name);
  const values = found.flatMap(([, value]) => value ?? []);
  if (values.length > 1) throw new WebhookVerificationError(`The ${name} header is duplicated.`);
  return values[0] ?? null;
}

function requireHeader(headers: WebhookHeaders, name: string): string {
  const value = readHeader(headers, name);
  if (value === null || value === '') {
    throw new WebhookVerificationError(`The ${name} header is missing.`);
  }
  return value;
}

function parseBody(body: Buffer): object {
  try {
    const parsed: unknown = JSON.parse(body.toString('utf8'));
    if (typeof parsed === 'object' && parsed !== null) return parsed;
  } catch {
    // Reported below: a validly signed body that is not JSON isn't from the service.
  }
  throw new WebhookVerificationError('The body is not a JSON object.');
}
