/**
 * Makes thumbnails of broadcasts from the first picture of a segment, every ten seconds. They are
 * made in the media process, because this process never decodes untrusted media.
 */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Logger } from 'pino';
import { inTransaction, type Db } from '../../../platform/database/database.ts';
import type { Storage } from '../../../platform/storage/storage.ts';
import { markLiveThumbnail } from '../../content/item-media/item-media.ts';
import {
  runMediaTask,
  THUMBNAIL_FORMATS,
  thumbnailSizes,
  type MediaTaskLimits,
} from '../../media/media.ts';
import { initSegment, videoTimescale, type Tracks } from './init-segment.ts';
import type { LiveFiles } from './live-files.ts';
import { mediaSegment } from './media-segment.ts';
import type { LiveSegment } from './segment-builder.ts';
import type { VideoHeader } from './video-header.ts';

const everyMs = 10_000;
/**
 * Beyond this limit, streams wait for their next segment, so that thumbnails do not slow broadcasts
 * down.
 */
const maxAtOnce = 2;

type ThumbnailParts = {
  readonly db: Db;
  readonly storage: Storage;
  readonly log: Logger;
  readonly limits: MediaTaskLimits;
  /** Called when an item has its first thumbnail. */
  readonly onChange: () => void;
};

export class LiveThumbnails {
  readonly #parts: ThumbnailParts;
  /** Start time of the latest thumbnail of each stream published here. */
  readonly #begunAt = new WeakMap<LiveFiles, number>();
  readonly #known = new WeakSet<LiveFiles>();
  readonly #stopping = new AbortController();
  #running = 0;

  constructor(parts: ThumbnailParts) {
    this.#parts = parts;
  }

  /** Starts making thumbnails of a segment if they are due. Returns immediately. */
  offer(files: LiveFiles, segment: LiveSegment): void {
    const isDue = performance.now() - (this.#begunAt.get(files) ?? -Infinity) >= everyMs;
    const { keyFrame, tracks } = segment;
    if (!isDue || keyFrame === null || this.#running >= maxAtOnce) return;
    this.#begunAt.set(files, performance.now());
    this.#running += 1;
    this.#make(files, tracks, keyFrame)
      .catch((error: unknown) => {
        if (this.#stopping.signal.aborted) return;
        this.#parts.log.info({ err: error }, 'live stream: could not create a thumbnail');
      })
      .finally(() => (this.#running -= 1));
  }

  [Symbol.dispose](): void {
    this.#stopping.abort();
  }

  async #make(files: LiveFiles, { video }: Tracks, keyFrame: Buffer): Promise<void> {
    if (video === null) return;
    const { db, limits, storage, onChange } = this.#parts;
    const { signal } = this.#stopping;
    await using work = await storage.scratch.createFolder('live-thumbnail');
    const sourcePath = path.join(work.path, 'picture.mp4');
    await writeFile(sourcePath, onePicture(video, keyFrame));
    const outputDir = path.join(work.path, 'out');
    const task = { type: 'still', sourcePath, outputDir, seconds: 0 } as const;
    const { hash, ...size } = await runMediaTask(task, { ...limits, signal });
    const made = thumbnailSizes(size).flatMap(({ name }) =>
      THUMBNAIL_FORMATS.map(({ ending }) => `${name}.${ending}`),
    );
    for (const name of made) await files.putFile(name, path.join(outputDir, name));
    if (this.#known.has(files)) return;
    await inTransaction(db, (tx) => markLiveThumbnail(tx, files.stream, hash));
    this.#known.add(files);
    onChange();
  }
}

function onePicture(video: VideoHeader, data: Buffer): Buffer {
  const samples = [{ data, duration: videoTimescale, isKey: true, offset: 0 }];
  const picture = mediaSegment(1, { video: { start: 0, samples }, audio: null });
  return Buffer.concat([initSegment({ video, audio: null }), picture]);
}
