/** Reads an object by its full name, resuming after broken connections. */
import { addAbortSignal, type Readable } from 'node:stream';
import type { SourceObject } from '../source-buckets.ts';
import type { Bucket } from './bucket.ts';
import { ResumingBody } from './resuming-body.ts';

/** Opens an object of a bucket without a prefix; null if it is absent. */
export async function openObject(
  bucket: Bucket,
  name: string,
  signal: AbortSignal,
): Promise<SourceObject | null> {
  const get = (condition: { Range?: string; IfMatch?: string }) =>
    bucket.call(
      'GetObject',
      (client, options) => client.getObject({ ...bucket.at(name), ...condition }, options),
      signal,
    );
  const got = await get({});
  if (got === null) return null;
  const sizeBytes = got.ContentLength ?? 0;
  const reopen = async (at: number): Promise<Readable> => {
    const again = await get({
      Range: `bytes=${at}-${sizeBytes - 1}`,
      ...(got.ETag !== undefined && { IfMatch: got.ETag }),
    });
    if (again === null) throw new Error(`${name} no longer exists`);
    return again.Body as Readable;
  };
  const stream = new ResumingBody(got.Body as Readable, 0, sizeBytes, reopen);
  addAbortSignal(signal, stream);
  return { sizeBytes, stream };
}
