/** Sources in buckets that imports may read. */
import type { SourceBuckets } from '../../platform/storage/source-buckets.ts';
import { StorageUnavailableError } from '../../platform/storage/storage-errors.ts';
import { SourceError, tooLarge, type SourceParts } from './source-body.ts';

export type ObjectParts = Omit<SourceParts, 'egress'> & { buckets: SourceBuckets };

/**
 * Reads an object completely.
 * @throws {SourceError}
 */
export async function* readObject(url: string, parts: ObjectParts): AsyncGenerator<Buffer> {
  const { buckets, limits, onProgress } = parts;
  // The setting may have changed since the import was accepted.
  const problem = buckets.problemOf(url);
  if (problem !== null) throw new SourceError(`${problem}.`, { isFinal: true });
  const signal = AbortSignal.any([parts.signal, AbortSignal.timeout(limits.deadlineMs)]);
  try {
    const object = await buckets.open(url, signal);
    if (object === null) throw new SourceError('does not exist in its bucket.', { isFinal: true });
    const { sizeBytes, stream } = object;
    try {
      if (sizeBytes > limits.maxBytes) throw tooLarge(limits);
      let bytes = 0;
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        onProgress(bytes, sizeBytes);
        yield chunk;
      }
    } finally {
      stream.destroy();
    }
  } catch (error) {
    if (parts.signal.aborted) throw parts.signal.reason;
    if (signal.aborted) {
      const cause = error;
      throw new SourceError('did not send all of its bytes in time.', { isFinal: true, cause });
    }
    if (!(error instanceof StorageUnavailableError)) throw error;
    // A failure of the customer's bucket must not be handled like an outage of our storage.
    throw new SourceError('could not be read with the credentials of the service.', {
      isFinal: false,
      cause: error,
    });
  }
}
