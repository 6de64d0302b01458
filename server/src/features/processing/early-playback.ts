/**
 * Plays a long video while the rest of it is being encoded. The engine's playlists grow in its
 * output folder; finished parts are copied to the storage, and the item plays from there:
 *
 *   nothing → the first segments, their playlists and the master are stored → the item names them
 *           → more segments, then a playlist that lists them, again and again → `publishFolder`
 *
 * 1. A segment is durable before a playlist lists it, and no segment is ever replaced.
 * 2. An attempt after a killed one continues its playlists: segments are cut at the same pictures,
 *    each is independently decodable, and the parameters in the initialization segments are
 *    compared. If they differ, the attempt gets its own folder.
 * 3. The engine's process is not trusted: its files are read without following links.
 */
import { constants } from 'node:fs';
import { open, readlink, realpath, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { awaitedLater } from '../../platform/async/awaited-later.ts';
import type { Storage } from '../../platform/storage/storage.ts';
import { growingPlaylist, GROWING_MIN_SEGMENTS, parseMediaPlaylist } from '../media/media.ts';

const pollMs = 1_000;
/** Once it plays, viewers have minutes of buffer; each round rewrites the playlists. */
const playingPollMs = 4_000;
const master = 'master.m3u8';
const maxTextBytes = 4_000_000;

export type EarlyPlaybackParts = {
  storage: Storage;
  /** The engine's output folder. */
  outputDir: string;
  /** Folder of the previous attempt below `media/`, which has no manifest; or null. */
  resumed: string | null;
  /** A new, unique folder. */
  fresh: string;
  signal: AbortSignal;
  /** Lets the item play from a folder; false ends the copying. */
  onPlayable: (mediaPrefix: string) => Promise<boolean>;
  onError: (error: unknown) => void;
};

type GrownPlaylist = {
  /** File name relative to the output folder. */
  name: string;
  folder: string;
  initSegment: string;
  segments: readonly { name: string; durationSeconds: number }[];
};

export class EarlyPlayback {
  readonly #parts: EarlyPlaybackParts;
  readonly #stop = new AbortController();
  readonly #stored = new Set<string>();
  /** Number of segments in each published playlist. */
  readonly #listed = new Map<string, number>();
  readonly #running: Promise<void>;
  #prefix: string | null = null;
  #isPlaying = false;

  private constructor(parts: EarlyPlaybackParts) {
    this.#parts = parts;
    this.#running = awaitedLater(this.#run());
  }

  static start(parts: EarlyPlaybackParts): EarlyPlayback {
    return new EarlyPlayback(parts);
  }

  /** Stops copying. Returns the folder for all files and the names of those already stored. */
  async stop(): Promise<{ mediaPrefix: string; stored: ReadonlySet<string> }> {
    this.#stop.abort();
    await this.#running;
    return { mediaPrefix: this.#prefix ?? this.#parts.fresh, stored: this.#stored };
  }

  async #run(): Promise<void> {
    const signal = AbortSignal.any([this.#stop.signal, this.#parts.signal]);
    while (!signal.aborted) {
      try {
        if (!(await this.#copy())) return;
      } catch (error) {
        // The next round retries; whatever is missing at the end is published then.
        this.#parts.onError(error);
      }
      await sleep(this.#isPlaying ? playingPollMs : pollMs, undefined, { signal }).catch(() => {});
    }
  }

  /** Copies new files. Returns false if the item must not play. */
  async #copy(): Promise<boolean> {
    const { onPlayable, outputDir } = this.#parts;
    const text = await readText(outputDir, master);
    if (text === null) return true;
    const playlists = playlistsOf(text);
    const grown = await Promise.all(playlists.map((name) => this.#grown(name)));
    if (grown.length === 0 || grown.some((one) => one === null)) return true;
    this.#prefix ??= await this.#choosePrefix(playlists);
    const prefix = `media/${this.#prefix}`;
    for (const one of grown) if (one !== null) await this.#copyOne(prefix, one);
    if (this.#isPlaying) return true;
    await this.#put(`${prefix}/${master}`, text);
    this.#isPlaying = await onPlayable(this.#prefix);
    return this.#isPlaying;
  }

  /** A playlist with its finished segments, or null if there are too few. */
  async #grown(name: string): Promise<GrownPlaylist | null> {
    const text = await readText(this.#parts.outputDir, name);
    if (text === null) return null;
    const { initSegment, segments } = parseMediaPlaylist(text);
    if (initSegment === null || segments.length < GROWING_MIN_SEGMENTS) return null;
    return { name, folder: path.posix.dirname(name), initSegment, segments };
  }

  async #copyOne(
    prefix: string,
    { name, folder, initSegment, segments }: GrownPlaylist,
  ): Promise<void> {
    const { outputDir, signal, storage } = this.#parts;
    for (const file of [initSegment, ...segments.map((segment) => segment.name)]) {
      const relative = `${folder}/${file}`;
      if (this.#stored.has(relative)) continue;
      await using handle = await openInside(outputDir, relative);
      if (handle === null) throw new Error(`${relative} cannot be read.`);
      await storage.put(
        `${prefix}/${relative}`,
        handle.createReadStream({ autoClose: false }),
        signal,
      );
      this.#stored.add(relative);
    }
    if ((this.#listed.get(name) ?? 0) >= segments.length) return;
    await this.#put(`${prefix}/${name}`, growingPlaylist({ initSegment, segments: [...segments] }));
    this.#listed.set(name, segments.length);
  }

  /** The previous attempt's folder with its segments, if this attempt produces compatible ones. */
  async #choosePrefix(playlists: readonly string[]): Promise<string> {
    const { fresh, outputDir, resumed, storage } = this.#parts;
    if (resumed === null) return fresh;
    for (const name of playlists) {
      const init = `${path.posix.dirname(name)}/init.mp4`;
      await using handle = await openInside(outputDir, init);
      const own = handle === null ? null : await handle.readFile();
      const before = await storage.read(`media/${resumed}/${init}`);
      if (own === null || before === null || !own.equals(await buffer(before.stream))) return fresh;
    }
    for (const name of playlists) {
      const folder = path.posix.dirname(name);
      const read = await storage.read(`media/${resumed}/${name}`);
      if (read === null) continue;
      const { initSegment, segments } = parseMediaPlaylist((await buffer(read.stream)).toString());
      this.#listed.set(name, segments.length);
      for (const file of [initSegment, ...segments.map((one) => one.name)]) {
        this.#stored.add(`${folder}/${file}`);
      }
    }
    return resumed;
  }

  async #put(key: string, text: string): Promise<void> {
    await this.#parts.storage.put(key, Readable.from([Buffer.from(text)]), this.#parts.signal);
  }
}

/** The media playlists referenced by a master playlist, without duplicates. */
export function playlistsOf(text: string): string[] {
  const named = text.matchAll(/^(?:#EXT-X-MEDIA:.*URI="([^"]+)"|([^#\n].*))$/gm);
  const names = [...named].map(([, uri, line]) => uri ?? line ?? '');
  return [...new Set(names)].filter((name) => /^[a-z0-9]+\/index\.m3u8$/.test(name));
}

async function readText(folder: string, name: string): Promise<string | null> {
  await using handle = await openInside(folder, name);
  if (handle === null || (await handle.stat()).size > maxTextBytes) return null;
  return handle.readFile('utf8');
}

/**
 * Opens a regular file inside a folder that another process may be changing. Returns null if there
 * is none, or if the system can't tell which file was really opened (all but Linux).
 */
async function openInside(folder: string, name: string): Promise<FileHandle | null> {
  // The engine can change the content of its folder but not its location.
  const parent = await realpath(path.dirname(folder));
  const target = path.join(parent, path.basename(folder), name);
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const handle = await open(target, flags).catch(() => null);
  if (handle === null) return null;
  const opened = await readlink(`/proc/self/fd/${handle.fd}`).catch(() => null);
  const stats = await handle.stat();
  if (opened === target && stats.isFile() && stats.nlink === 1) return handle;
  await handle.close();
  return null;
}
