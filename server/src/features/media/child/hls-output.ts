import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  avGetCodecString,
  type CodecContext,
  Dictionary,
  FormatContext,
  type Packet,
  type Stream,
} from 'node-av/lib';
import type { Rung } from '../ladder.ts';
import { summarizeMediaPlaylist, withTargetDuration } from '../media-playlist.ts';
import { roundFrameRate } from '../picture.ts';
import type { Rendition } from '../tasks.ts';
import { check, required } from './engine.ts';
import { ProgressiveFile } from './progressive-file.ts';

export const MEDIA_PLAYLIST = 'index.m3u8';
export const INIT_SEGMENT = 'init.mp4';

/**
 * Every rung's time line starts here and not at 0. Reordered pictures and the lead-in of AAC need
 * timestamps before the first picture; starting late keeps them positive. Otherwise the muxer
 * shifts each rung by its own reordering delay, and a switch between rungs would break the
 * synchronisation of picture and sound. With `frag_discont` the start stands in the fragments
 * themselves, since browsers ignore the empty edit that FFmpeg would write in its place.
 */
const TIMELINE_START_SECONDS = 0.2;

/** How far picture and sound of a source may lie apart and still end up in the same segment. */
export const MAX_INTERLEAVE_SECONDS = 120;
/**
 * A last segment shorter than this part of the others joins the one before it. RFC 8216 measures
 * bit rates over no less, and a segment of a few frames, one of them a key frame, would claim many
 * times the real rate of its rendition.
 */
const MIN_LAST_SEGMENT = 0.5;

type HlsOptions = {
  readonly segmentSeconds: number;
  readonly hasDownload: boolean;
  readonly maySoundRunAhead: boolean;
};

type Track = {
  readonly stream: Stream;
  readonly encoder: CodecContext;
};

/**
 * Writes one rendition as HLS with fragmented MP4: `<rung>/init.mp4`, `<rung>/index.m3u8` and
 * `<rung>/000.m4s` onwards.
 *
 * Video and audio stages write at the same time; writes are queued here, because a muxer
 * must not be entered twice.
 */
export class HlsOutput {
  readonly #rung: Rung;
  readonly #folder: string;
  readonly #muxer: FormatContext;
  readonly #video: Track | null;
  readonly #audio: Track | null;
  readonly #download: ProgressiveFile | null;
  /** Length in frames of the shortest last segment. */
  readonly #minLastFrames: bigint;
  #lastWrite: Promise<void> = Promise.resolve();
  /** Pictures from a key frame on, while they may be too few for a segment of their own. */
  #held: Packet[] = [];
  #hasStarted = false;

  private constructor(
    rung: Rung,
    folder: string,
    muxer: FormatContext,
    tracks: { video: Track | null; audio: Track | null },
    segmentSeconds: number,
    download: ProgressiveFile | null,
  ) {
    this.#download = download;
    this.#rung = rung;
    this.#folder = folder;
    this.#muxer = muxer;
    this.#video = tracks.video;
    this.#audio = tracks.audio;
    const framesPerSecond = rung.kind === 'video' ? rung.frameRate.num / rung.frameRate.den : 0;
    this.#minLastFrames = BigInt(Math.floor(segmentSeconds * MIN_LAST_SEGMENT * framesPerSecond));
  }

  /**
   * Creates the rung's folder inside `outputDir` and writes the header for opened encoders. With
   * `hasDownload` the rung is written as one MP4 as well. With `maySoundRunAhead` the sound waits for
   * its pictures, however long they take; otherwise for {@link MAX_INTERLEAVE_SECONDS} of them.
   */
  static async open(
    outputDir: string,
    rung: Rung,
    encoders: { video: CodecContext | null; audio: CodecContext | null },
    { segmentSeconds, hasDownload, maySoundRunAhead }: HlsOptions,
  ): Promise<HlsOutput> {
    const folder = join(outputDir, rung.name);
    await mkdir(folder);
    const muxer = new FormatContext();
    check(muxer.allocOutputContext2(null, 'hls', join(folder, MEDIA_PLAYLIST)), 'open HLS output');
    const tracks = {
      video: encoders.video === null ? null : addTrack(muxer, encoders.video),
      audio: encoders.audio === null ? null : addTrack(muxer, encoders.audio),
    };
    // For the muxer, 0 means no limit.
    const interleaveSeconds = maySoundRunAhead ? 0 : MAX_INTERLEAVE_SECONDS;
    const maxInterleaveDelta = BigInt(interleaveSeconds * 1_000_000);
    muxer.maxInterleaveDelta = maxInterleaveDelta;
    using options = Dictionary.fromObject({
      hls_time: segmentSeconds,
      hls_playlist_type: 'vod',
      hls_segment_type: 'fmp4',
      hls_flags: 'independent_segments',
      hls_segment_options: 'movflags=+frag_discont',
      output_ts_offset: TIMELINE_START_SECONDS,
      // Without it pictures would be shifted by the reordering delay, which differs between rungs.
      hls_fmp4_init_filename: INIT_SEGMENT,
      hls_segment_filename: join(folder, '%03d.m4s'),
    });
    check(await muxer.writeHeader(options), 'write HLS header');
    const opened = [encoders.video, encoders.audio].filter((encoder) => encoder !== null);
    const download = hasDownload
      ? await ProgressiveFile.open(outputDir, opened, maxInterleaveDelta)
      : null;
    return new HlsOutput(rung, folder, muxer, tracks, segmentSeconds, download);
  }

  /** Takes over a packet in the time base of the video encoder. */
  async writeVideo(packet: Packet): Promise<void> {
    // The encoder leaves durations to the muxer, which would guess that of the last frame.
    if (packet.duration === 0n) packet.duration = 1n;
    if (packet.isKeyframe) await this.#release();
    const start = packet.isKeyframe ? packet : this.#held[0];
    this.#held.push(packet);
    const isLong = start === undefined || endOf(packet) - start.pts >= this.#minLastFrames;
    if (isLong) await this.#release();
  }

  /** Writes what was held back. */
  async #release(): Promise<void> {
    const packets = this.#held;
    this.#held = [];
    const track = required(this.#video, 'a video track');
    for (const packet of packets) await this.#write(packet, track);
    this.#hasStarted ||= packets.length > 0;
  }

  /** Writes a copy of a packet in the time base of the audio encoder; it goes to every rung. */
  writeAudio(packet: Packet): Promise<void> {
    return this.#write(required(packet.clone(), 'memory'), required(this.#audio, 'an audio track'));
  }

  #write(packet: Packet, track: Track): Promise<void> {
    const download = this.#download;
    const copy = download === null ? null : required(packet.clone(), 'memory');
    packet.rescaleTs(track.encoder.timeBase, track.stream.timeBase);
    packet.streamIndex = track.stream.index;
    const write = this.#lastWrite.then(async () => {
      check(await this.#muxer.interleavedWriteFrame(packet), 'write segment');
      packet.free();
      if (copy !== null) await download?.write(copy, track.encoder);
    });
    this.#lastWrite = write;
    return write;
  }

  /** Ends the last segment and the playlist, and measures what was written. */
  async finish(): Promise<Rendition> {
    const [start] = this.#held;
    // The muxer cuts at key frames, so what is none any more goes to the segment before.
    if (start !== undefined && this.#hasStarted) start.isKeyframe = false;
    if (start !== undefined) await this.#release();
    await this.#lastWrite;
    check(await this.#muxer.writeTrailer(), 'finish HLS output');
    await this.#download?.finish();
    const codecs = [this.#video, this.#audio].flatMap((track) =>
      track === null ? [] : [required(avGetCodecString(track.stream.codecpar), 'a codec string')],
    );
    this.#muxer.freeContext();
    const path = join(this.#folder, MEDIA_PLAYLIST);
    const playlist = withTargetDuration(await readFile(path, 'utf8'));
    await writeFile(path, playlist);
    const sizeOf = async (name: string): Promise<number> =>
      (await stat(join(this.#folder, name))).size;
    const summary = await summarizeMediaPlaylist(playlist, sizeOf);
    const rung = this.#rung;
    return {
      ...summary,
      name: rung.name,
      playlist: `${rung.name}/${MEDIA_PLAYLIST}`,
      width: rung.kind === 'video' ? rung.width : null,
      height: rung.kind === 'video' ? rung.height : null,
      frameRate: rung.kind === 'video' ? roundFrameRate(rung.frameRate) : null,
      codecs: codecs.join(','),
    };
  }
}

function endOf(packet: Packet): bigint {
  return packet.pts + packet.duration;
}

function addTrack(muxer: FormatContext, encoder: CodecContext): Track {
  const stream = muxer.newStream(null);
  check(stream.codecpar.fromContext(encoder), 'set stream parameters');
  stream.timeBase = encoder.timeBase;
  return { stream, encoder };
}
