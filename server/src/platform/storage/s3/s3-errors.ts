/** Explains an S3 error to the operator in one sentence. */
import {
  StorageFullError,
  StorageUnavailableError,
  StorageUnsupportedError,
  systemCode,
} from '../storage-errors.ts';

type Settled<T> =
  | { readonly outcome: 'ok'; readonly value: T }
  | { readonly outcome: 'absent' }
  | { readonly outcome: 'error'; readonly error: unknown };

/** Waits for an operation and classifies its outcome. */
export async function untilSettled<T>(
  sent: Promise<T>,
  operation: string,
  where: string,
): Promise<Settled<T>> {
  try {
    return { outcome: 'ok', value: await sent };
  } catch (error) {
    const failure = read(error);
    if (failure.status === 404 && absentNames.has(failure.name)) return { outcome: 'absent' };
    return { outcome: 'error', error: explain(failure, operation, where) };
  }
}

/** The response to a HEAD has no body, so the SDK can only report `NotFound`. */
const absentNames = new Set(['NoSuchKey', 'NotFound', 'NoSuchUpload']);

type Failure = {
  readonly name: string;
  readonly message: string;
  readonly status: number | null;
  /** The code of a call without a response, such as `ECONNREFUSED`. */
  readonly system: string;
  readonly requestId: string | null;
};

function read(error: unknown): Failure {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  const metadata = (error as { $metadata?: { httpStatusCode?: number; requestId?: string } } | null)
    ?.$metadata;
  return {
    name,
    message,
    status: metadata?.httpStatusCode ?? null,
    system: systemCode(error),
    requestId: metadata?.requestId ?? null,
  };
}

const fullNames = new Set(['QuotaExceeded', 'XMinioStorageFull', 'InsufficientStorage']);
const unknownKeyNames = new Set([
  'InvalidAccessKeyId',
  'SignatureDoesNotMatch',
  'InvalidToken',
  'ExpiredToken',
  'TokenRefreshRequired',
]);

/** Error codes of servers that implement only part of S3. */
const unsupportedNames = new Set(['NotImplemented', 'MethodNotAllowed']);

/**
 * The error to throw. The SDK's error is not its cause: it can contain the request with its
 * signature, which would appear in the log.
 */
function explain(failure: Failure, operation: string, where: string): Error {
  const { name, status, requestId } = failure;
  if (fullNames.has(name) || status === 507) return new StorageFullError();
  const request = requestId === null ? '' : ` (request ${requestId})`;
  if (unsupportedNames.has(name) || status === 501 || status === 405) {
    return new StorageUnsupportedError(`S3: ${where} does not support ${operation}${request}`);
  }
  return new StorageUnavailableError(`S3: ${reason(failure, operation, where)}${request}`);
}

function reason(failure: Failure, operation: string, where: string): string {
  const { name, message, status, system } = failure;
  if (name === 'NoSuchBucket') {
    return `${where} does not exist. Create it, or correct REELFEED_MEDIA_URL.`;
  }
  if (unknownKeyNames.has(name)) {
    return `${where} does not accept the credentials: ${name}. Check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.`;
  }
  if (name.startsWith('Credentials')) {
    return 'there are no credentials. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or assign a role to the machine.';
  }
  if (
    status === 301 ||
    name === 'AuthorizationHeaderMalformed' ||
    /region is missing/i.test(message)
  ) {
    return `${where} is not in the configured region. Set AWS_REGION to the region of the bucket.`;
  }
  if (name === 'RequestTimeTooSkewed') {
    return `the clock of this machine differs too much from that of ${where}.`;
  }
  if (status === 401 || status === 403) {
    return `${where} does not allow ${operation} with these credentials. See the bucket policy in docs/operations.md.`;
  }
  if (status === null) {
    return `${where} is unreachable: ${system === '' ? name : system}. Check AWS_ENDPOINT_URL_S3 and the network.`;
  }
  return `${where} answered ${operation} with ${status} ${name}.`;
}
