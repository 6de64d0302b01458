/** A bucket: the client with its timeouts and retries, and the interpretation of its errors. */
import { S3, type S3ClientConfig } from '@aws-sdk/client-s3';
import { StorageUnsupportedError } from '../storage-errors.ts';
import type { StorageObserver } from '../storage.ts';
import { untilSettled } from './s3-errors.ts';

export type S3Credentials = {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string | null;
};

export type S3Options = {
  readonly bucket: string;
  /**
   * Prefix of all keys, without slashes at its ends. If empty, keys are at the top level of the
   * bucket.
   */
  readonly prefix: string;
  /** If null, the SDK looks it up, for example in `~/.aws/config`. */
  readonly region: string | null;
  /** The URL of a compatible server. Null for AWS itself. */
  readonly endpoint: string | null;
  /** URL at which clients reach the bucket, for signed URLs, or null if they can't reach it. */
  readonly publicEndpoint: string | null;
  /** Whether URLs have the bucket in the path rather than in the host name. */
  readonly pathStyle: boolean;
  /** If null, the SDK looks them up, for example from the machine's role. */
  readonly credentials: S3Credentials | null;
};

/** The SDK's options for sending one operation. */
type SendOptions = { readonly abortSignal?: AbortSignal };

const connectTimeoutMs = 5_000;
/**
 * Time without a byte in either direction. A reader that pauses for longer resumes where it was.
 */
const silenceTimeoutMs = 30_000;
const maxAttempts = 4;
/** Each reader holds a socket while it reads, so this limits the number of viewers per process. */
const maxSockets = 1_000;
/** The name that servers other than AWS expect by default. */
const defaultRegion = 'us-east-1';

export class Bucket {
  readonly name: string;
  readonly client: S3;
  /** The client that signs URLs for others, or null. */
  readonly publicClient: S3 | null;
  readonly #prefix: string;
  readonly #where: string;
  readonly #observe: StorageObserver;

  constructor(options: S3Options, observe: StorageObserver) {
    const { bucket, prefix, endpoint, publicEndpoint } = options;
    this.name = bucket;
    this.#prefix = prefix === '' ? '' : `${prefix}/`;
    this.#where = `the bucket "${bucket}" at ${endpoint ?? 'AWS'}`;
    this.#observe = observe;
    this.client = openClient(options, endpoint);
    this.publicClient = publicEndpoint === null ? null : openClient(options, publicEndpoint);
  }

  /** Identifies an object in each operation. */
  at(key: string): { Bucket: string; Key: string } {
    return { Bucket: this.name, Key: this.#prefix + key };
  }

  /** Identifies the objects below a prefix, `''` for all. */
  below(prefix: string): { Bucket: string; Prefix: string } {
    return { Bucket: this.name, Prefix: this.#prefix + (prefix === '' ? '' : `${prefix}/`) };
  }

  keyOf(name: string): string {
    return name.slice(this.#prefix.length);
  }

  /**
   * Sends an operation. Null means that the object is absent.
   *
   * @throws StorageUnavailableError, StorageFullError, or the signal's reason
   */
  async call<T>(
    operation: string,
    send: (client: S3, options: SendOptions) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T | null> {
    signal?.throwIfAborted();
    const startedAt = performance.now();
    const options = signal === undefined ? {} : { abortSignal: signal };
    const settled = await untilSettled(send(this.client, options), operation, this.#where);
    const isUnsupported =
      settled.outcome === 'error' && settled.error instanceof StorageUnsupportedError;
    const outcome = isUnsupported ? 'unsupported' : settled.outcome;
    this.#observe({ operation, outcome, durationMs: performance.now() - startedAt });
    if (settled.outcome === 'ok') return settled.value;
    if (settled.outcome === 'absent') return null;
    signal?.throwIfAborted();
    throw settled.error;
  }

  /** Like `call`, for objects that must exist. */
  async require<T>(
    operation: string,
    send: (client: S3, options: SendOptions) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    const value = await this.call(operation, send, signal);
    if (value === null) throw new Error(`S3 does not find the object of ${operation}`);
    return value;
  }
}

function openClient(options: S3Options, endpoint: string | null): S3 {
  const { region, pathStyle, credentials } = options;
  const agent = { keepAlive: true, maxSockets };
  const config: S3ClientConfig = {
    forcePathStyle: pathStyle,
    maxAttempts,
    // A body that is read in ranges and resumed has no checksum to compare.
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: connectTimeoutMs,
      socketTimeout: silenceTimeoutMs,
      httpAgent: agent,
      httpsAgent: agent,
    },
  };
  if (endpoint !== null) config.endpoint = endpoint;
  if (region !== null) config.region = region;
  else if (endpoint !== null) config.region = defaultRegion;
  if (credentials !== null) {
    const { accessKeyId, secretAccessKey, sessionToken } = credentials;
    const token = sessionToken === null ? {} : { sessionToken };
    config.credentials = { accessKeyId, secretAccessKey, ...token };
  }
  return new S3(config);
}
