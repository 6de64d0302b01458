/**
 * Options of a webhook: what it receives, when and how. They are stored as a single JSON object in
 * the API's format; an absent field has its default. Secrets are stored separately, encrypted.
 */
import { X509Certificate, createPrivateKey } from 'node:crypto';
import { fieldError } from '../../../platform/http/errors.ts';
import type { Vault } from '../../../platform/secrets/vault.ts';
import {
  https,
  schemesOf,
  type CertificateFacts,
  type Credentials,
  type Destination,
  type OAuth,
} from '../sending/destinations/destination.ts';
import type { WebhookFilter } from '../outbox/filter.ts';
import type { OptionChange } from './option-schemas.ts';

export type PayloadVersion = 1 | 2;

export type WebhookOptions = {
  readonly filter?: WebhookFilter;
  /** Subscribed kinds whose events can never pass the filter. */
  readonly neverMatches?: readonly string[];
  /** Delay before each attempt in seconds. */
  readonly retrySchedule?: readonly number[];
  /** In seconds. */
  readonly timeout?: number;
  readonly payloadVersion?: PayloadVersion;
  /** In seconds. */
  readonly rotationOverlap?: number;
  readonly orderedBy?: 'contentId';
  readonly signature?: 'ed25519';
  /** Public key for `ed25519`. */
  readonly publicKey?: string;
  readonly destination?: Exclude<Destination, { type: 'https' }>;
  readonly clientCertificate?: CertificateFacts;
  readonly oauth?: OAuth;
  /** Mail addresses to notify when the webhook fails. */
  readonly notify?: readonly string[];
};

export const defaultTimeoutS = 30;
export const defaultOverlapS = 3_600;

/** The options as the API shows them. */
export function presentOptions(options: WebhookOptions) {
  return {
    filter: options.filter ?? null,
    neverMatches: [...(options.neverMatches ?? [])],
    retrySchedule: options.retrySchedule === undefined ? null : [...options.retrySchedule],
    timeout: options.timeout ?? defaultTimeoutS,
    payloadVersion: options.payloadVersion ?? 1,
    rotationOverlap: options.rotationOverlap ?? defaultOverlapS,
    orderedBy: options.orderedBy ?? null,
    signature: options.signature ?? ('hmac' as const),
    publicKey: options.publicKey ?? null,
    destination: options.destination ?? https,
    clientCertificate: options.clientCertificate ?? null,
    oauth: options.oauth ?? null,
    notify: [...(options.notify ?? [])],
  };
}

/** Binds encrypted credentials to their webhook. */
export function credentialsContext(organizationId: string, webhookId: string): string {
  return `webhook credentials ${organizationId} ${webhookId}`;
}

export type StoredOptions = { options: WebhookOptions; sealedCredentials: Buffer | null };

/**
 * Merges a change into the options: absent fields are kept, null means the default.
 * @throws {ApiError} VALIDATION_ERROR if fields are incompatible
 */
export function changeOptions(
  vault: Vault,
  context: string,
  { options, sealedCredentials }: StoredOptions,
  change: OptionChange,
): StoredOptions {
  const { destination, clientCertificate, oauth, signature, ...plain } = change;
  let credentials: Record<string, unknown> = openCredentials(vault, context, sealedCredentials);
  let next: Record<string, unknown> = { ...options, ...plain };
  if (plain.notify?.length === 0) next['notify'] = null;
  if (signature !== undefined) next['signature'] = signature === 'hmac' ? null : signature;
  if (destination !== undefined) {
    const { shown, secret } = splitDestination(destination);
    next['destination'] = shown;
    credentials = { ...credentials, destination: secret };
  }
  if (clientCertificate !== undefined) {
    next['clientCertificate'] = clientCertificate && describeCertificate(clientCertificate);
    credentials = { ...credentials, clientCertificate };
  }
  if (oauth !== undefined) {
    const { clientSecret, ...shown } = oauth ?? { clientSecret: null };
    next['oauth'] = oauth && shown;
    credentials = { ...credentials, oauth: clientSecret === null ? null : { clientSecret } };
  }
  next = withoutNulls(next);
  requireConsistent(next);
  const kept = withoutNulls(credentials);
  return {
    options: next,
    sealedCredentials:
      Object.keys(kept).length === 0 ? null : vault.seal(JSON.stringify(kept), context),
  };
}

/** @throws {Error} if they were encrypted with another key */
export function openCredentials(vault: Vault, context: string, sealed: Buffer | null): Credentials {
  return sealed === null ? {} : (JSON.parse(vault.open(sealed, context)) as Credentials);
}

type GivenDestination = NonNullable<OptionChange['destination']>;

function splitDestination(destination: GivenDestination | null) {
  if (destination === null || destination.type === 'https') return { shown: null, secret: null };
  if (destination.type === 's3') {
    const { secretAccessKey, ...shown } = destination;
    return {
      shown: { ...shown, prefix: shown.prefix ?? '' },
      secret: { password: secretAccessKey },
    };
  }
  if (destination.type === 'rabbitmq') {
    const { password, ...shown } = destination;
    return { shown: { ...shown, exchange: shown.exchange ?? '' }, secret: { password } };
  }
  const { password, token, ...shown } = destination;
  return { shown, secret: { password, token } };
}

/** @throws {ApiError} VALIDATION_ERROR */
function describeCertificate({
  certificate,
  key,
}: {
  certificate: string;
  key: string;
}): CertificateFacts {
  const read = <T>(field: string, what: string, parse: () => T): T => {
    try {
      return parse();
    } catch {
      throw fieldError(`clientCertificate.${field}`, `is not ${what} in PEM format`);
    }
  };
  const parsed = read('certificate', 'a certificate', () => new X509Certificate(certificate));
  const privateKey = read('key', 'a private key without a passphrase', () => createPrivateKey(key));
  if (!parsed.checkPrivateKey(privateKey)) {
    throw fieldError('clientCertificate.key', 'does not belong to the certificate');
  }
  return {
    subject: parsed.subject.replaceAll('\n', ', '),
    fingerprint: parsed.fingerprint256,
    expiresAt: new Date(parsed.validTo).toISOString(),
  };
}

function requireConsistent(options: WebhookOptions): void {
  const [firstDelay = 0] = options.retrySchedule ?? [];
  if (firstDelay !== 0) throw fieldError('retrySchedule', 'must start with 0');
  if (options.destination === undefined) return;
  for (const name of ['clientCertificate', 'oauth'] as const) {
    if (options[name] !== undefined)
      throw fieldError(name, 'is allowed only for HTTPS destinations');
  }
}

/** @throws {ApiError} VALIDATION_ERROR unless the URL's scheme fits the destination */
export function requireScheme(url: string, type: Destination['type']): void {
  const schemes: readonly string[] = schemesOf[type];
  const found = URL.parse(url)?.protocol ?? '';
  if (schemes.includes(found)) return;
  const wanted = schemes.map((scheme) => `${scheme}//`).join(' or ');
  throw fieldError('url', `must start with ${wanted} for the destination ${type}`);
}

function withoutNulls<T extends object>(value: T): T {
  const entries = Object.entries(value).filter(
    ([, inner]) => inner !== null && inner !== undefined,
  );
  return Object.fromEntries(entries) as T;
}
