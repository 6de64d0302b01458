/** A bucket of an organization: requests to it go through the guard of everything that goes out. */
import { Readable } from 'node:stream';
import type { S3, S3ClientConfig } from '@aws-sdk/client-s3';
import { BlockedAddressError, EgressError } from '../../../platform/egress/egress-errors.ts';
import type { Egress } from '../../../platform/egress/egress.ts';

export type BucketAddress = {
  readonly bucket: string;
  readonly region: string | null;
  /** Of a compatible server. Null: AWS. */
  readonly endpoint: string | null;
  readonly pathStyle: boolean;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
};

/** The bucket did not take an object. The message is fit for users and names no secret. */
export class DestinationError extends Error {
  override readonly name = 'DestinationError';
}

export type DestinationBucket = {
  /** Stores an object, whole or not at all. @throws DestinationError */
  put(key: string, bytes: Uint8Array, contentType: string, signal: AbortSignal): Promise<void>;
};

const defaultRegion = 'us-east-1';
const putTimeoutMs = 5 * 60_000;
const maxAnswerBytes = 64 * 1024;
const maxAttempts = 3;

export function openDestinationBucket(egress: Egress, address: BucketAddress): DestinationBucket {
  const { bucket, region, endpoint, pathStyle, accessKeyId, secretAccessKey } = address;
  const options: S3ClientConfig = {
    region: region ?? defaultRegion,
    forcePathStyle: pathStyle,
    maxAttempts,
    // Compatible servers don't all know the newer checksums; the signature covers the body.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    credentials: { accessKeyId, secretAccessKey },
    requestHandler: guardedHandler(egress),
    ...(endpoint !== null && { endpoint }),
  };
  let client: S3 | null = null;
  return {
    async put(key, bytes, contentType, signal) {
      const object = { Bucket: bucket, Key: key, Body: bytes, ContentType: contentType };
      try {
        client ??= new (await import('@aws-sdk/client-s3')).S3(options);
        await client.putObject(object, { abortSignal: signal });
      } catch (error) {
        signal.throwIfAborted();
        throw explain(error);
      }
    },
  };
}

/** A request as the SDK hands it to whoever sends it. */
type SdkRequest = {
  readonly protocol: string;
  readonly hostname: string;
  readonly port?: number;
  readonly path: string;
  readonly query?: Readonly<Record<string, string | string[] | null>>;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
};

/** How the SDK sends: by the egress, which checks every address. */
function guardedHandler(egress: Egress) {
  return {
    async handle(request: SdkRequest, { abortSignal }: { abortSignal?: unknown } = {}) {
      const { protocol, hostname, port, path, method, body } = request;
      const query = queryOf(request.query);
      const host = port === undefined ? hostname : `${hostname}:${port}`;
      // HTTP computes it, and a second one would be an error.
      const { 'content-length': _length, ...headers } = request.headers;
      const answer = await egress.request(
        {
          url: `${protocol}//${host}${path}${query}`,
          method: method as 'PUT',
          headers,
          ...(body !== undefined && { body: body as Uint8Array }),
          totalTimeoutMs: putTimeoutMs,
          maxBodyBytes: maxAnswerBytes,
        },
        abortSignal as AbortSignal | undefined,
      );
      return {
        response: {
          statusCode: answer.status,
          headers: Object.fromEntries(
            Object.entries(answer.headers).map(([name, value]) => [name, String(value)]),
          ),
          body: Readable.from(answer.body.length > 0 ? [answer.body] : []),
        },
      };
    },
    updateHttpClientConfig: () => undefined,
    httpHandlerConfigs: () => ({}),
  };
}

function queryOf(query: Readonly<Record<string, string | string[] | null>> | undefined): string {
  const pairs = Object.entries(query ?? {}).flatMap(([name, value]) =>
    [value ?? ''].flat().map((one) => `${encode(name)}=${encode(one)}`),
  );
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

/** RFC 3986, as signatures want it. */
function encode(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** The error of the SDK is not the cause of this one: it may carry the signed request. */
function explain(error: unknown): DestinationError {
  if (error instanceof BlockedAddressError) return new DestinationError(`${error.message}.`);
  if (error instanceof EgressError) {
    return new DestinationError(`The bucket can't be reached: ${error.failure}.`);
  }
  const { name } = error instanceof Error ? error : { name: 'Unknown' };
  return new DestinationError(
    `The bucket answered ${/^\w{1,64}$/.test(name) ? name : 'an error'}.`,
  );
}
