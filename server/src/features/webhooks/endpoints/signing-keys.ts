/**
 * Creates the secrets and ed25519 keys of webhooks, and converts them to the form used for signing.
 */
import {
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  randomBytes,
  type KeyObject,
} from 'node:crypto';

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

/** Cached per secret, because creating a key costs several times more than signing. */
export function signingKey(sealedText: string): SigningKey {
  const { secret, privateText } = partsOf(sealedText);
  return {
    text: createSecretKey(secret, 'utf8'),
    bytes: createSecretKey(secret.slice(secretPrefix.length), 'base64'),
    ed25519: privateText === null ? null : privateKey(privateText),
  };
}

export type WebhookSigningKeys = {
  readonly current: SigningKey;
  /** Replaced secrets that receivers may still use, newest first. */
  readonly previous: readonly SigningKey[];
};
