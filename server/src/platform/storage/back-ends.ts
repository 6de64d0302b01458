/**
 * The back ends of the storage besides the disk, by the scheme of their URLs. A new one needs a
 * folder next to this file, an entry here, and its settings in `storage-settings.ts`.
 */
import type { Parser } from '../settings/config-values.ts';
import type { StorageConfig } from './open-storage.ts';
import { s3BackEnd } from './s3/s3-back-end.ts';
import type { Storage, StorageObserver } from './storage.ts';

export type BackEnd = {
  /** The scheme of its URLs, such as `s3`. */
  readonly scheme: string;
  readonly parse: Parser<BucketPlace>;
  /** @throws StorageUnavailableError, ConfigurationError */
  readonly open: (
    config: StorageConfig,
    place: BucketPlace,
    options: OpenOptions,
  ) => Promise<Storage>;
};

/** A bucket, or the back end's equivalent, and the prefix of all keys in it. */
export type BucketPlace = { readonly bucket: string; readonly prefix: string };
export type StoragePlace = BucketPlace & { readonly scheme: string };

type OpenOptions = {
  readonly scratchFolder: string;
  readonly observe?: StorageObserver | undefined;
};

const backEnds: readonly BackEnd[] = [s3BackEnd];

function backEndOf(url: string): BackEnd | undefined {
  return backEnds.find(({ scheme }) => url.trim().startsWith(`${scheme}:`));
}

/** Whether the text is a URL of a back end, even if it is malformed. */
export function isStorageUrl(text: string): boolean {
  return backEndOf(text) !== undefined;
}

/** A place in any of the back ends. */
export function storageUrl(): Parser<StoragePlace> {
  return (raw) => {
    const named = backEndOf(raw);
    const problems: string[] = [];
    for (const { scheme, parse } of named === undefined ? backEnds : [named]) {
      const parsed = parse(raw);
      if ('value' in parsed) return { value: { scheme, ...parsed.value } };
      problems.push(parsed.problem);
    }
    return { problem: problems.join('; or ') };
  };
}

export function formatStorageUrl({ scheme, bucket, prefix }: StoragePlace): string {
  return `${scheme}://${bucket}/${prefix}`;
}

/** @throws StorageUnavailableError, ConfigurationError */
export async function openPlaceOf(
  config: StorageConfig,
  place: StoragePlace,
  options: OpenOptions,
): Promise<Storage> {
  const backEnd = backEnds.find(({ scheme }) => scheme === place.scheme);
  if (backEnd === undefined) throw new Error(`There is no back end for ${place.scheme}.`);
  return backEnd.open(config, place, options);
}
