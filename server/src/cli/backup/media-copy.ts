/** The media files of a backup. */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { sync } from '../../platform/storage/durable.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import type { Manifest } from './manifest.ts';

type MediaEntry = Manifest['media'][number];

/**
 * Copies media into a backup in two passes around the snapshot of the database: the first takes the
 * bulk, the second what came since. A file that the snapshot names was there before it, so it is in
 * one of the passes, also where it is removed soon after.
 */
export class MediaCopy {
  readonly #storage: Storage;
  readonly #folder: string;
  readonly #copied = new Map<string, MediaEntry & { etag: string }>();

  constructor(storage: Storage, folder: string) {
    this.#storage = storage;
    this.#folder = folder;
  }

  /** Copies what is new, or was replaced, since the last pass. */
  async pass(): Promise<void> {
    for await (const { key, etag } of this.#storage.list('')) {
      if (this.#copied.get(key)?.etag === etag) continue;
      const entry = await this.#copy(key);
      if (entry !== null) this.#copied.set(key, entry);
    }
  }

  entries(): MediaEntry[] {
    return [...this.#copied.values()]
      .map(({ key, path: file, sizeBytes, sha256 }) => ({ key, path: file, sizeBytes, sha256 }))
      .toSorted((a, b) => (a.key < b.key ? -1 : 1));
  }

  async #copy(key: string): Promise<(MediaEntry & { etag: string }) | null> {
    const read = await this.#storage.read(key);
    // Removed since it was listed.
    if (read === null) return null;
    const relative = `media/${key}`;
    const file = path.join(this.#folder, relative);
    await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
    const hash = createHash('sha256');
    let sizeBytes = 0;
    const measure = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        hash.update(chunk);
        sizeBytes += chunk.length;
        done(null, chunk);
      },
    });
    await pipeline(read.stream, measure, createWriteStream(file, { mode: 0o600 }));
    await sync(file);
    return { key, etag: read.etag, path: relative, sizeBytes, sha256: hash.digest('hex') };
  }
}

/** Puts the media of a backup into the storage. */
export async function restoreMedia(
  storage: Storage,
  folder: string,
  media: readonly MediaEntry[],
): Promise<void> {
  for (const { key, path: relative } of media) {
    const source = createReadStream(path.join(folder, relative));
    await storage.put(key, source);
  }
}
