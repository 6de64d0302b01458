/**
 * The headers of a delivery. Two signature schemes are used in parallel: the service's own over
 * `<timestamp>.<body>`, and Standard Webhooks over `<id>.<unix seconds>.<body>`, which also
 * protects the id and the time of sending. Both cover the exact bytes of the body. A webhook may
 * also have an ed25519 key, whose signature needs no secret at the receiver.
 */
import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  randomBytes,
  sign,
  type KeyObject,
} from 'node:crypto';
import { version } from '../../../version.ts';

const userAgent = `Reelfeed-Webhooks/${version}`;
const secretPrefix = 'whsec_';
const secretBytes = 32;

export function newSecret(): string {
  return secretPrefix + randomBytes(secretBytes).toString('base64');
}

const privatePrefix = 'whsk_';
const publicPrefix = 'whpk_';
/** Prefix of the 32-byte private key in PKCS #8 (RFC 8410, 7). */
const pkcs8Head = Buffer.from('302e020100300506032b657004220420', 'hex');

/** Appends a new ed25519 private key to a secret; both are stored as one text. */
export function withSigningKey(secret: string): string {
  return `${secret} ${privatePrefix}${randomBytes(32).toString('base64')}`;
}

/** The public key of a text from `withSigningKey`, in the format of Standard Webhooks. */
export function publicKeyOf(text: string): string {
  const { privateText } = partsOf(text);
  if (privateText === null) throw new Error('the webhook has no ed25519 key');
  const spki = createPublicKey(privateKey(privateText)).export({ format: 'der', type: 'spki' });
  return publicPrefix + spki.subarray(-32).toString('base64');
}

/** Splits the text into the secret and the private key, if any. */
export function partsOf(text: string): { secret: string; privateText: string | null } {
  const at = text.indexOf(` ${privatePrefix}`);
  if (at === -1) return { secret: text, privateText: null };
  return { secret: text.slice(0, at), privateText: text.slice(at + 1) };
}

function privateKey(text: string): KeyObject {
  const bytes = Buffer.from(text.slice(privatePrefix.length), 'base64');
  return createPrivateKey({ key: Buffer.concat([pkcs8Head, bytes]), format: 'der', type: 'pkcs8' });
}

/**
 * A secret in the form that each scheme uses: the whole text, the decoded bytes, the private key.
 */
export type SigningKey = {
  readonly text: KeyObject;
  readonly bytes: KeyObject;
  readonly ed25519: KeyObject | null;
};

/** Cached per secret: creating a key costs several times as much as signing. */
export function signingKey(sealedText: string): SigningKey {
  const { secret, privateText } = partsOf(sealedText);
  return {
    text: createSecretKey(secret, 'utf8'),
    bytes: createSecretKey(secret.slice(secretPrefix.length), 'base64'),
    ed25519: privateText === null ? null : privateKey(privateText),
  };
}

export type SigningKeys = {
  readonly current: SigningKey;
  /** Replaced secrets that receivers may still use, newest first. */
  readonly previous: readonly SigningKey[];
};

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
  { current, previous }: SigningKeys,
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
