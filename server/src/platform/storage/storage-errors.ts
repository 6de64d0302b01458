/** Errors of the storage layer. Absence is `null`, never an error. */

/** A key or prefix that can't name anything. It never reaches the disk. */
export class InvalidKeyError extends Error {
  override readonly name = 'InvalidKeyError';

  constructor(reason: string) {
    // The key itself may be hostile or huge, so the message contains only the reason.
    super(`invalid storage key: ${reason}`);
  }
}

/** The device is full, or its free space would fall below the configured reserve. */
export class StorageFullError extends Error {
  override readonly name = 'StorageFullError';

  constructor(cause?: unknown) {
    super('the storage is full', { cause });
  }
}

/**
 * The storage is unreachable, or denies the service the access that it needs. The message is one
 * sentence for the operator without secrets.
 */
export class StorageUnavailableError extends Error {
  override readonly name = 'StorageUnavailableError';
}

/** The storage does not support an operation, so a retry is pointless. */
export class StorageUnsupportedError extends StorageUnavailableError {}

/** The key or prefix is in use by something that this write must not replace. */
export class KeyTakenError extends Error {
  override readonly name = 'KeyTakenError';
  readonly key: string;

  constructor(key: string, cause?: unknown) {
    super(`storage key already exists: ${key}`, { cause });
    this.key = key;
  }
}

/** The prefix to which files were to be added isn't published, or no longer is. */
export class PrefixMissingError extends Error {
  override readonly name = 'PrefixMissingError';
  readonly prefix: string;

  constructor(prefix: string, cause?: unknown) {
    super(`storage prefix does not exist: ${prefix}`, { cause });
    this.prefix = prefix;
  }
}

/**
 * A local file or folder that must not be published: empty, too large, or with links, devices or
 * invalid names.
 */
export class UnsafeSourceError extends Error {
  override readonly name = 'UnsafeSourceError';

  constructor(reason: string) {
    super(`cannot be published: ${reason}`);
  }
}

/** The requested byte range is outside the file. `sizeBytes` is for `Content-Range`. */
export class RangeNotSatisfiableError extends Error {
  override readonly name = 'RangeNotSatisfiableError';
  readonly sizeBytes: number;

  constructor(sizeBytes: number) {
    super(`byte range outside a file of ${sizeBytes} bytes`);
    this.sizeBytes = sizeBytes;
  }
}

/** More bytes arrived, or were declared, than `maxBytes` allows. */
export class FileTooLargeError extends Error {
  override readonly name = 'FileTooLargeError';
  readonly maxBytes: number;

  constructor(maxBytes: number) {
    super(`larger than ${maxBytes} bytes`);
    this.maxBytes = maxBytes;
  }
}

/** The system's code of a failed call, such as `ENOENT`, or an empty string. */
export function systemCode(error: unknown): string {
  if (!(error instanceof Error) || !('code' in error)) return '';
  return typeof error.code === 'string' ? error.code : '';
}

/** ENOENT, or a path that runs through a file or a link. Nothing is stored there. */
export function isAbsent(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR', 'ELOOP'].includes(systemCode(error));
}

/** Handles a rejection: an absent path becomes null, any other error is rethrown. */
export function absentAsNull(error: unknown): null {
  if (isAbsent(error)) return null;
  throw error;
}

/** Translates a full disk or an exhausted quota; returns all other errors unchanged. */
export function asStorageError(error: unknown): unknown {
  return ['ENOSPC', 'EDQUOT'].includes(systemCode(error)) ? new StorageFullError(error) : error;
}
