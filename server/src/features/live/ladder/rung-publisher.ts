/**
 * Stores and announces the segments of a broadcast's rungs without ever blocking the broadcast. A
 * rung's segment combines the media child's pictures with the top's audio.
 */
import { createHash } from 'node:crypto';
import type { Logger } from 'pino';
import { inTransaction, type Db } from '../../../platform/database/database.ts';
import type { RungSegment, VideoRung } from '../../media/media.ts';
import { initSegment } from '../ingest/init-segment.ts';
import type { LiveFiles } from '../ingest/live-files.ts';
import { mediaSegment } from '../ingest/media-segment.ts';
import { playlistFiles } from '../ingest/playlists.ts';
import type { StreamClaim } from '../ingest/publisher-queries.ts';
import type { LiveSegment } from '../ingest/segment-builder.ts';
import { readVideoHeader } from '../ingest/video-header.ts';
import { insertRungSegment, type NewRungSegment, type LiveRung } from './rung-queries.ts';

export type RungPublisherParts = {
  readonly db: Db;
  readonly log: Logger;
  readonly claim: StreamClaim;
  /** Rungs that the broadcast already has. */
  readonly rungs: readonly LiveRung[];
  readonly liveNames: () => ReadonlySet<string>;
  /** Called when a rung has another segment or gap. */
  readonly onAdded: () => void;
};

/** A stored segment of the top, with the name of its header file. */
export type StoredTop = {
  readonly number: number;
  readonly fileName: string;
  readonly format: number;
  readonly segment: LiveSegment;
  readonly targetDurationSeconds: number;
};

type Made = { segment: RungSegment; rung: VideoRung };

const unitsPerMs = 90;
/** Maximum top segments waiting for their rungs. The child lags by at most two. */
const maxTops = 8;
const maxMade = 32;

export class RungPublisher {
  readonly #parts: RungPublisherParts;
  readonly #rungs = new Map<string, LiveRung>();
  readonly #tops = new Map<number, StoredTop>();
  #made: Made[] = [];
  #work: Promise<void> = Promise.resolve();
  #listed: string;
  #files: LiveFiles | null = null;

  constructor(parts: RungPublisherParts) {
    this.#parts = parts;
    for (const rung of parts.rungs) this.#rungs.set(rung.name, rung);
    this.#listed = '';
  }

  /** Number of the segment's rungs that are already produced. */
  madeOf(number: number): number {
    return this.#made.filter(({ segment }) => segment.number === number).length;
  }

  take(segment: RungSegment, rung: VideoRung): void {
    this.#made.push({ segment, rung });
    if (this.#made.length > maxMade) this.#made.shift();
    this.#storeMade(segment.number);
  }

  topStored(files: LiveFiles, top: StoredTop): void {
    this.#files = files;
    this.#tops.set(top.number, top);
    for (const number of this.#tops.keys())
      if (number <= top.number - maxTops) this.#tops.delete(number);
    this.#storeMade(top.number);
    this.#enqueue(() => this.#announceTop(files, top));
  }

  /** Resolves when everything added has been stored. */
  async settled(): Promise<void> {
    await this.#work;
  }

  #storeMade(number: number): void {
    const top = this.#tops.get(number);
    const files = this.#files;
    if (top === undefined || files === null) return;
    const made = this.#made.filter(({ segment }) => segment.number === number);
    this.#made = this.#made.filter(({ segment }) => segment.number > number);
    for (const one of made) this.#enqueue(() => this.#store(files, top, one));
  }

  /** Runs work sequentially. A failure leaves a gap. */
  #enqueue(work: () => Promise<void>): void {
    this.#work = this.#work.then(work).catch((error: unknown) => {
      this.#parts.log.info({ err: error }, 'live stream: could not store a segment of a rendition');
    });
  }

  async #store(files: LiveFiles, top: StoredTop, { segment, rung }: Made): Promise<void> {
    const video = readVideoHeader('avc1', segment.record);
    const audio = top.segment.tracks.audio;
    const header = initSegment({ video, audio });
    const bytes = muxed(top, segment);
    const hash = createHash('sha256').update(header).digest('hex').slice(0, 8);
    const headerName = `rung-${rung.name}-${hash}.mp4`;
    const fileName = `rung-${rung.name}-${top.fileName}`;
    await files.put(fileName, bytes);
    await files.put(headerName, header);
    const { name, maxBitrateBps } = rung;
    const { codec, height, width } = video;
    const stored = { number: top.number, fileName, headerName, sizeBytes: bytes.length };
    await this.#record(files, { name, width, height, codec, maxBitrateBps }, stored);
    await files.putRung(name, { ...top, upTo: top.number });
    await this.#putMaster(files, top);
  }

  async #record(files: LiveFiles, rung: LiveRung, segment: NewRungSegment): Promise<void> {
    const { claim, db } = this.#parts;
    const isOurs = await inTransaction(db, (tx) => insertRungSegment(tx, claim, rung, segment));
    if (isOurs) {
      this.#rungs.set(rung.name, rung);
      this.#parts.onAdded();
    } else if (segment.fileName !== null) await files.remove(segment.fileName);
  }

  /** Inactive rungs continue with gaps; segments without pictures contain only the audio. */
  async #announceTop(files: LiveFiles, top: StoredTop): Promise<void> {
    const live = this.#parts.liveNames();
    const isSoundAlone = top.segment.tracks.video === null;
    for (const rung of this.#rungs.values()) {
      if (isSoundAlone) {
        const { fileName, number } = top;
        const headerName = playlistFiles.init(top.format);
        const sizeBytes = top.segment.bytes.length;
        await this.#record(files, rung, { number, fileName, headerName, sizeBytes });
      } else if (live.has(rung.name)) continue;
      else await this.#record(files, rung, gap(top.number));
      await files.putRung(rung.name, { ...top, upTo: top.number });
    }
    await this.#putMaster(files, top);
  }

  /** The master playlist lists the active rungs. */
  async #putMaster(files: LiveFiles, { segment }: StoredTop): Promise<void> {
    const live = this.#parts.liveNames();
    const rungs = [...this.#rungs.values()].filter(({ name }) => live.has(name));
    const signature = JSON.stringify(rungs);
    if (signature === this.#listed || (rungs.length === 0 && this.#rungs.size === 0)) return;
    await files.putMaster(segment, rungs);
    this.#listed = signature;
  }
}

function gap(number: number): NewRungSegment {
  return { number, fileName: null, headerName: null, sizeBytes: null };
}

function muxed(
  { number, segment: { sound } }: StoredTop,
  { endMs, pictures }: RungSegment,
): Buffer {
  const samples = pictures.map(({ data, shownMs }, index) => {
    const nextMs = pictures[index + 1]?.shownMs ?? endMs;
    const duration = Math.max(1, nextMs - shownMs) * unitsPerMs;
    return { data, duration, isKey: index === 0, offset: 0 };
  });
  const start = (pictures[0]?.shownMs ?? 0) * unitsPerMs;
  return mediaSegment(number + 1, { video: { start, samples }, audio: sound });
}
