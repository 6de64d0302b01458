/**
 * Stores the segments of a broadcast's rungs and announces them, beside the broadcast and never in its
 * way. A segment of a rung is the pictures that the media child made, with the sound of the top.
 */
import { createHash } from 'node:crypto';
import type { Logger } from 'pino';
import { inTransaction, type Db } from '../../../platform/database/database.ts';
import type { RungSegment, VideoRung } from '../../media/media.ts';
import { initSegment } from '../ingest/init-segment.ts';
import type { LiveFiles } from '../ingest/live-files.ts';
import { mediaSegment } from '../ingest/media-segment.ts';
import { playlistFiles } from '../ingest/playlists.ts';
import type { Claim } from '../ingest/publisher-queries.ts';
import type { Segment } from '../ingest/segment-builder.ts';
import { readVideoHeader } from '../ingest/video-header.ts';
import { insertRungSegment, type NewRungSegment, type Rung } from './rung-queries.ts';

export type RungPublisherParts = {
  readonly db: Db;
  readonly log: Logger;
  readonly claim: Claim;
  /** The rungs that the broadcast has had before. */
  readonly rungs: readonly Rung[];
  /** Names of the rungs that are being made. */
  readonly liveNames: () => ReadonlySet<string>;
  /** A rung has another segment, or gap. */
  readonly onAdded: () => void;
};

/** A segment of the top that is stored, with the name of its header's file. */
export type StoredTop = {
  readonly number: number;
  readonly fileName: string;
  readonly format: number;
  readonly segment: Segment;
  readonly targetDurationSeconds: number;
};

type Made = { segment: RungSegment; rung: VideoRung };

const unitsPerMs = 90;
/** Segments of the top that wait for their rungs. The child lags two at most. */
const maxTops = 8;
const maxMade = 32;

export class RungPublisher {
  readonly #parts: RungPublisherParts;
  readonly #rungs = new Map<string, Rung>();
  readonly #tops = new Map<number, StoredTop>();
  #made: Made[] = [];
  #work: Promise<void> = Promise.resolve();
  /** The rungs that the master playlist lists. */
  #listed: string;
  #files: LiveFiles | null = null;

  constructor(parts: RungPublisherParts) {
    this.#parts = parts;
    for (const rung of parts.rungs) this.#rungs.set(rung.name, rung);
    this.#listed = '';
  }

  /** The segment's rungs that are made already. */
  madeOf(number: number): number {
    return this.#made.filter(({ segment }) => segment.number === number).length;
  }

  /** Takes a segment that was made. */
  take(segment: RungSegment, rung: VideoRung): void {
    this.#made.push({ segment, rung });
    if (this.#made.length > maxMade) this.#made.shift();
    this.#storeMade(segment.number);
  }

  /** A segment of the top is stored. */
  topStored(files: LiveFiles, top: StoredTop): void {
    this.#files = files;
    this.#tops.set(top.number, top);
    for (const number of this.#tops.keys())
      if (number <= top.number - maxTops) this.#tops.delete(number);
    this.#storeMade(top.number);
    this.#enqueue(() => this.#announceTop(files, top));
  }

  /** Resolves when everything that was taken is stored. */
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

  /** One after the other. A failure leaves a gap. */
  #enqueue(work: () => Promise<void>): void {
    this.#work = this.#work.then(work).catch((error: unknown) => {
      this.#parts.log.info({ err: error }, 'live stream: a segment of a rendition was not stored');
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

  async #record(files: LiveFiles, rung: Rung, segment: NewRungSegment): Promise<void> {
    const { claim, db } = this.#parts;
    const isOurs = await inTransaction(db, (tx) => insertRungSegment(tx, claim, rung, segment));
    if (isOurs) {
      this.#rungs.set(rung.name, rung);
      this.#parts.onAdded();
    } else if (segment.fileName !== null) await files.remove(segment.fileName);
  }

  /** Rungs that are not made go on with gaps; those of a segment without pictures with its sound. */
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

  /** The master playlist lists the rungs that are being made. */
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
