/**
 * Buckets that imports read from with the credentials of the service, as listed in a setting. The
 * service's own media are never included, because they belong to all organizations.
 */
import type { Readable } from 'node:stream';
import type { StorageConfig } from './open-storage.ts';
import type { Bucket } from './s3/bucket.ts';
import { placeOptions } from './s3/s3-back-end.ts';
import type { StorageObserver } from './storage.ts';

export type SourceObject = { readonly sizeBytes: number; readonly stream: Readable };

export type SourceBuckets = {
  /** Why an `s3://` URL must not be read, as a message for its sender; null if it may be read. */
  problemOf(url: string): string | null;

  /**
   * Opens an object, whose stream must be read to its end or destroyed. Returns null if it is
   * absent.
   *
   * @throws StorageUnavailableError, including for insufficient credentials
   */
  open(url: string, signal: AbortSignal): Promise<SourceObject | null>;
};

type Place = { readonly bucket: string; readonly prefix: string };
type Named = { readonly bucket: string; readonly name: string };

/** @throws ConfigurationError if the settings do not allow access to any bucket */
export function openSourceBuckets(config: StorageConfig, observe: StorageObserver): SourceBuckets {
  const { importBuckets, mediaUrl } = config;
  const buckets = new Map<string, Bucket>();
  const bucketOf = async (bucket: string): Promise<Bucket> => {
    // Imported on demand, because the SDK uses a lot of memory.
    const module = await import('./s3/bucket.ts');
    const known = buckets.get(bucket);
    if (known !== undefined) return known;
    const opened = new module.Bucket(placeOptions(config, { bucket, prefix: '' }), observe);
    buckets.set(bucket, opened);
    return opened;
  };
  return {
    problemOf(url) {
      const named = parse(url);
      if (named === null) return 'must be s3://bucket/key';
      const isAllowed = importBuckets.some((place) => isIn(named, place));
      if (isAllowed && !(mediaUrl?.scheme === 's3' && isIn(named, mediaUrl))) return null;
      return 'is not a location that imports may read: see REELFEED_IMPORT_BUCKETS';
    },
    async open(url, signal) {
      const named = parse(url);
      if (named === null) return null;
      const [bucket, { openObject }] = await Promise.all([
        bucketOf(named.bucket),
        import('./s3/open-object.ts'),
      ]);
      return openObject(bucket, named.name, signal);
    },
  };
}

/** Keys are taken literally, without percent-decoding, as in the tools of S3. */
function parse(url: string): Named | null {
  const [, bucket, name] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])\/(.+)$/s.exec(url) ?? [];
  return bucket === undefined || name === undefined ? null : { bucket, name };
}

function isIn({ bucket, name }: Named, place: Place): boolean {
  if (bucket !== place.bucket) return false;
  return place.prefix === '' || name.startsWith(`${place.prefix}/`);
}
