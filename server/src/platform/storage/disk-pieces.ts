/** Bytes that are stored as they arrive, in one growing file; see `Storage.openPieces`. */
import { open, rm, type FileHandle } from 'node:fs/promises';
import { inFolderOf, syncFolders } from './disk-put.ts';
import { writeAll } from './receive.ts';
import { asStorageError } from './storage-errors.ts';
import type { Piece, PieceWriter } from './storage.ts';

export class DiskPieces implements PieceWriter {
  readonly #objects: string;
  readonly #place: { readonly key: string; readonly target: string };
  readonly #held: readonly Piece[];
  #handle: FileHandle | null = null;
  #writtenBytes = 0;
  #durableBytes = 0;

  /** `place` is an unused key and its path below `objects`. */
  constructor(
    objects: string,
    place: { readonly key: string; readonly target: string },
    held: readonly Piece[],
  ) {
    this.#objects = objects;
    this.#place = place;
    this.#held = held;
  }

  async write(bytes: Uint8Array): Promise<void> {
    try {
      const { target } = this.#place;
      this.#handle ??= await inFolderOf(target, () => open(target, 'wx', 0o600));
      await writeAll(this.#handle, bytes);
      this.#writtenBytes += bytes.length;
    } catch (error) {
      throw asStorageError(error);
    }
  }

  async flush(): Promise<readonly Piece[]> {
    if (this.#handle !== null && this.#writtenBytes > this.#durableBytes) {
      try {
        await this.#handle.datasync();
        if (this.#durableBytes === 0) await syncFolders({ objects: this.#objects }, [this.#place]);
      } catch (error) {
        throw asStorageError(error);
      }
      this.#durableBytes = this.#writtenBytes;
    }
    if (this.#durableBytes === 0) return this.#held;
    return [...this.#held, { key: this.#place.key, sizeBytes: this.#durableBytes }];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#handle === null) return;
    await this.#handle.close();
    if (this.#durableBytes === 0) await rm(this.#place.target, { force: true });
  }
}
