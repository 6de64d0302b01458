/** The files of a broadcast in the storage, in the folder `live` of its item. */
import { Readable } from 'node:stream';
import type { Db } from '../../../platform/database/database.ts';
import type { Storage } from '../../../platform/storage/storage.ts';
import { liveFolderOf } from '../../content/item-media/item-media.ts';
import type { LiveStreamKey } from '../queries.ts';
import { rungFiles, rungLines, rungPlaylist } from '../ladder/rung-playlists.ts';
import { readRungs, readRungSegments, type LiveRung } from '../ladder/rung-queries.ts';
import type { StreamFormat } from './formats.ts';
import { initSegment } from './init-segment.ts';
import {
  listedSegments,
  broadcastMasterPlaylist,
  mediaPlaylist,
  playlistFiles,
  targetDurationOf,
} from './playlists.ts';
import { countDiscontinuities, readSegments } from './publisher-queries.ts';
import type { LiveSegment } from './segment-builder.ts';

/** A rung with a smaller share of segments is not listed in the playlist of the whole broadcast. */
const leastShareOfWhole = 0.9;

type LiveFilesOf = {
  readonly db: Db;
  readonly storage: Storage;
  readonly stream: LiveStreamKey & { readonly contentId: string };
  readonly dvrWindowSeconds: number;
  readonly playbackId: string;
};

export class LiveFiles {
  readonly #of: LiveFilesOf;
  readonly #prefix: string;

  constructor(of: LiveFilesOf) {
    this.#of = of;
    this.#prefix = `media/${liveFolderOf(of.playbackId)}`;
  }

  get stream(): LiveFilesOf['stream'] {
    return this.#of.stream;
  }

  async put(name: string, content: Buffer | string): Promise<void> {
    const bytes = typeof content === 'string' ? Buffer.from(content) : content;
    await this.#of.storage.put(`${this.#prefix}/${name}`, Readable.from([bytes]));
  }

  async putFile(name: string, localPath: string): Promise<void> {
    await this.#of.storage.put(`${this.#prefix}/${name}`, { path: localPath });
  }

  async remove(name: string): Promise<void> {
    await this.#of.storage.remove(`${this.#prefix}/${name}`);
  }

  async putHeader({ number, tracks }: StreamFormat): Promise<void> {
    await this.put(playlistFiles.init(number), initSegment(tracks));
  }

  /** Stores the files that players need before the first segment is listed. */
  async putFirst(fileName: string, segment: LiveSegment): Promise<void> {
    const { bytes, durationMs, startedAt, tracks } = segment;
    const rate = { bits: bytes.length * 8, ms: durationMs };
    const listed = {
      number: 0,
      fileName,
      durationMs,
      startedAt,
      isDiscontinuity: false,
      format: 0,
    };
    await this.put(playlistFiles.master, broadcastMasterPlaylist(tracks, rate));
    const text = mediaPlaylist({
      segments: [listed],
      targetDurationSeconds: targetDurationOf(durationMs),
      earlierDiscontinuities: 0,
      isEnded: false,
      isWhole: false,
    });
    await this.put(playlistFiles.media, text);
  }

  /** Publishes the playlist of the current segments, with an end tag if there will be no more. */
  async putPlaylist(targetDurationSeconds: number, { isEnded = false } = {}): Promise<void> {
    const { db, stream, dvrWindowSeconds } = this.#of;
    const segments = await readSegments(db, stream, listedSegments(dvrWindowSeconds));
    const first = segments[0]?.number ?? 0;
    const earlierDiscontinuities = await countDiscontinuities(db, stream, first);
    const window = { segments, targetDurationSeconds, earlierDiscontinuities };
    await this.put(playlistFiles.media, mediaPlaylist({ ...window, isEnded, isWhole: false }));
  }

  /** Publishes the segments of a rung up to a segment number of the top. */
  async putRung(rung: string, { targetDurationSeconds, upTo }: RungEnd): Promise<void> {
    await this.#putRung(rung, { targetDurationSeconds, upTo, isEnded: false });
  }

  /**
   * Publishes the master playlist with the top, which is described by one of its segments, and
   * these rungs.
   */
  async putMaster(
    { bytes, durationMs, tracks }: LiveSegment,
    rungs: readonly LiveRung[],
  ): Promise<void> {
    const rate = { bits: bytes.length * 8, ms: durationMs };
    const lines = rungLines(rungs, { audioCodec: tracks.audio?.codec ?? null });
    await this.put(playlistFiles.master, broadcastMasterPlaylist(tracks, rate, undefined, lines));
  }

  async #putRung(rung: string, end: RungEnd & { isEnded: boolean }): Promise<void> {
    const { db, stream, dvrWindowSeconds } = this.#of;
    const { isEnded, targetDurationSeconds, upTo } = end;
    const listed = { upTo, count: listedSegments(dvrWindowSeconds) };
    const segments = await readRungSegments(db, stream, rung, listed);
    const first = segments[0]?.number ?? 0;
    const earlierDiscontinuities = await countDiscontinuities(db, stream, first);
    const window = { segments, targetDurationSeconds, earlierDiscontinuities };
    await this.put(rungFiles.live(rung), rungPlaylist({ ...window, isEnded, isWhole: false }));
  }

  /** Ends the rungs and returns those that have nearly all of the broadcast. */
  async #putRungEnds(targetDurationSeconds: number, upTo: number): Promise<LiveRung[]> {
    const { db, stream } = this.#of;
    const whole: LiveRung[] = [];
    for (const rung of await readRungs(db, stream)) {
      const segments = await readRungSegments(db, stream, rung.name, { upTo, count: null });
      const made = segments.filter(({ fileName }) => fileName !== null);
      if (made.length >= segments.length * leastShareOfWhole) {
        const end = { isEnded: true, isWhole: true };
        const playlist = { segments, targetDurationSeconds, earlierDiscontinuities: 0, ...end };
        await this.put(rungFiles.whole(rung.name), rungPlaylist(playlist));
        whole.push(rung);
      }
      await this.#putRung(rung.name, { targetDurationSeconds, upTo, isEnded: true });
    }
    return whole;
  }

  /** Ends the broadcast: current players get an end tag, and later ones the whole broadcast. */
  async putEnd({ tracks, targetDurationSeconds }: EndedBroadcast): Promise<void> {
    const { db, stream } = this.#of;
    const segments = await readSegments(db, stream, null);
    const sum = (of: (segment: (typeof segments)[number]) => number) =>
      segments.reduce((total, segment) => total + of(segment), 0);
    const rate = { bits: sum(({ sizeBytes }) => sizeBytes) * 8, ms: sum((one) => one.durationMs) };
    const whole = { segments, targetDurationSeconds, earlierDiscontinuities: 0 };
    const text = mediaPlaylist({ ...whole, isEnded: true, isWhole: true });
    // The tracks of streams from before formats were stored are unknown.
    if (tracks.video === null && tracks.audio === null) return this.put(playlistFiles.media, text);
    await this.put(playlistFiles.whole, text);
    const upTo = segments.at(-1)?.number ?? 0;
    const rungs = await this.#putRungEnds(targetDurationSeconds, upTo);
    const lines = rungLines(rungs, { audioCodec: tracks.audio?.codec ?? null, isWhole: true });
    const master = broadcastMasterPlaylist(tracks, rate, playlistFiles.whole, lines);
    await this.put(playlistFiles.master, master);
    await this.putPlaylist(targetDurationSeconds, { isEnded: true });
  }
}

type RungEnd = { readonly targetDurationSeconds: number; readonly upTo: number };

export type EndedBroadcast = {
  readonly tracks: Parameters<typeof broadcastMasterPlaylist>[0];
  readonly targetDurationSeconds: number;
};
