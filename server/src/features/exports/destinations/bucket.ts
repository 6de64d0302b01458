/** A bucket of an organization. Requests to it go through the egress guard. */
import { Readable } from 'node:stream';
import type { S3, S3ClientConfig } from '@aws-sdk/client-s3';
import { BlockedAddressError, EgressError } from '../../../platform/egress/egress-errors.ts';
import type { Egress } from '../../../platform/egress/egress.ts';

export type BucketAddress = {
  readonly bucket: string;
  readonly region: string | null;
  /** Endpoint of a compatible server; null means AWS. */
  readonly endpoint: string | null;
  readonly pathStyle: boolean;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
};

/** The bucket rejected an object. The message may be shown to users and contains no secret. */
export class BucketError extends Error {
  override readonly name = 'DestinationError';
}

export type DestinationBucket = {
  /** Stores an object atomically. @throws DestinationError */
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
    // Some compatible servers don't support the newer checksums; the signature covers the body.
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

/** A request in the form the SDK passes to its HTTP handler. */
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

/** HTTP handler of the SDK that uses the egress guard, which checks every address. */
function guardedHandler(egress: Egress) {
  return {
    async handle(request: SdkRequest, { abortSignal }: { abortSignal?: unknown } = {}) {
      const { protocol, hostname, port, path, method, body } = request;
      const query = queryOf(request.query);
      const host = port === undefined ? hostname : `${hostname}:${port}`;
      // The HTTP client sets this header; a second one would be an error.
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

/** RFC 3986 encoding, as signatures require. */
function encode(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** The SDK's error is not kept as the cause, because it may contain the signed request. */
function explain(error: unknown): BucketError {
  if (error instanceof BlockedAddressError) return new BucketError(`${error.message}.`);
  if (error instanceof EgressError) {
    return new BucketError(`The bucket cannot be reached: ${error.failure}.`);
  }
  const { name } = error instanceof Error ? error : { name: 'Unknown' };
  return new BucketError(`The bucket returned ${/^\w{1,64}$/.test(name) ? name : 'an error'}.`);
}
