/** Encryption and decryption of signing secrets between the database and the sender. */
import { LRUCache } from 'lru-cache';
import type { Vault } from '../../../platform/vault.ts';
import type { Credentials } from '../sending/destinations/destination.ts';
import { credentialsContext } from './options.ts';
import { signingKey, type SigningKey, type SigningKeys } from '../sending/signing.ts';

/** Binds an encrypted secret to its webhook, so that it can't be decrypted for another. */
export function secretContext(organizationId: string, webhookId: string): string {
  return `webhook secret ${organizationId} ${webhookId}`;
}

/** Binds encrypted headers to their webhook. */
export function headersContext(organizationId: string, webhookId: string): string {
  return `webhook headers ${organizationId} ${webhookId}`;
}

/** The encrypted secrets of one webhook. */
export type SealedSecrets = {
  readonly organizationId: string;
  readonly webhookId: string;
  readonly sealedSecret: Buffer;
  readonly sealedPrevious: readonly Buffer[];
  readonly sealedHeaders: Buffer | null;
  readonly sealedCredentials: Buffer | null;
};

export type OpenedSecrets = {
  /** An error if one of the secrets was encrypted with another key. */
  readonly keys: SigningKeys | Error;
  readonly headers: Readonly<Record<string, string>>;
  readonly credentials: Credentials;
};

const maxRemembered = 10_000;

/** Decrypts secrets and caches them by their ciphertext for the following deliveries. */
export function createSecretReader(vault: Vault) {
  const remembered = new LRUCache<string, SigningKey>({ max: maxRemembered });
  const open = (sealed: Buffer, context: string): SigningKey => {
    const name = sealed.toString('latin1');
    const known = remembered.get(name);
    if (known !== undefined) return known;
    const key = signingKey(vault.open(sealed, context));
    remembered.set(name, key);
    return key;
  };
  return (webhook: SealedSecrets): OpenedSecrets => {
    const { organizationId, webhookId } = webhook;
    const context = secretContext(organizationId, webhookId);
    try {
      const keys = {
        current: open(webhook.sealedSecret, context),
        previous: webhook.sealedPrevious.map((sealed) => open(sealed, context)),
      };
      const read = (sealed: Buffer | null, place: string): unknown =>
        sealed === null ? {} : JSON.parse(vault.open(sealed, place));
      const headers = read(webhook.sealedHeaders, headersContext(organizationId, webhookId));
      const place = credentialsContext(organizationId, webhookId);
      const credentials = read(webhook.sealedCredentials, place) as Credentials;
      return { keys, headers: headers as Record<string, string>, credentials };
    } catch (error) {
      return {
        keys: error instanceof Error ? error : new Error(String(error)),
        headers: {},
        credentials: {},
      };
    }
  };
}

export type SecretReader = ReturnType<typeof createSecretReader>;
