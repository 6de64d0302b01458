/**
 * An in-memory cache of the latest segments and headers of broadcasts: all viewers request the same
 * ones within the same seconds, so each process reads each from the storage once.
 */
import { buffer } from 'node:stream/consumers';
import { LRUCache } from 'lru-cache';
import type { Storage, StoredFile } from '../../../platform/storage/storage.ts';

const maxBytes = 96 * 1024 * 1024;
/** Larger files are served from the storage. */
const maxFileBytes = 12 * 1024 * 1024;

export type CachedFile = { readonly file: StoredFile; readonly bytes: Buffer };

export class SegmentCache {
  readonly #storage: Storage;
  readonly #files = new LRUCache<string, CachedFile>({
    maxSize: maxBytes,
    sizeCalculation: ({ bytes }) => Math.max(1, bytes.length),
  });
  readonly #reading = new Map<string, Promise<CachedFile | null>>();

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  /** An immutable file, or null if it is absent or too large. */
  async read(key: string): Promise<CachedFile | null> {
    const known = this.#files.get(key);
    if (known !== undefined) return known;
    const reading = this.#reading.get(key) ?? this.#load(key);
    this.#reading.set(key, reading);
    return reading;
  }

  async #load(key: string): Promise<CachedFile | null> {
    try {
      const read = await this.#storage.read(key);
      if (read === null) return null;
      if (read.sizeBytes > maxFileBytes) {
        read.stream.destroy();
        return null;
      }
      const { sizeBytes, modifiedAt, etag } = read;
      const cached = {
        file: { key, sizeBytes, modifiedAt, etag },
        bytes: await buffer(read.stream),
      };
      this.#files.set(key, cached);
      return cached;
    } finally {
      this.#reading.delete(key);
    }
  }
}
