import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  avGetCodecString,
  type CodecContext,
  Dictionary,
  FormatContext,
  type Packet,
  type Stream,
} from 'node-av/lib';
import type { Rung } from '../../ladder.ts';
import type { PlaylistVariant } from '../../master-playlist.ts';
import { endedPlaylist, summarizeMediaPlaylist, withTargetDuration } from '../../media-playlist.ts';
import { roundFrameRate } from '../../picture.ts';
import type { Rendition } from '../../tasks.ts';
import { TIMELINE_START_SECONDS } from '../../timeline.ts';
import { AUDIO_BITRATE_BPS } from '../engine/encoders.ts';
import { check, required } from '../engine/engine.ts';
import { ProgressiveFile } from './progressive-file.ts';
import { planSegments, startsSegment, type SegmentPlan } from './segment-plan.ts';

export const MEDIA_PLAYLIST = 'index.m3u8';
export const INIT_SEGMENT = 'init.mp4';

/**
 * Video and audio of the same time share a segment, no matter how far apart they arrive: 0 disables
 * the muxer's limit. `pace.ts` limits the distance.
 */
const MAX_INTERLEAVE_DELTA = 0n;
/**
 * A last segment shorter than this fraction of the target is merged into the previous one. RFC 8216
 * measures peak bit rates over no shorter time, and a segment of a few frames, one of them a key
 * frame, would report many times the rendition's real rate.
 */
const MIN_LAST_SEGMENT = 0.5;
/** Minimum segment duration for the muxer. */
const SHORTEST_SEGMENT_SECONDS = 0.01;

type HlsOptions = {
  readonly segmentSeconds: number;
  /** See `planSegments`. */
  readonly hasShortStart: boolean;
  /** Whether players may follow the playlist while it is being written. */
  readonly grows: boolean;
  readonly hasDownload: boolean;
  /** The audio goes only to the download and to its own rendition. */
  readonly keepsSoundApart: boolean;
};

type Track = {
  readonly stream: Stream;
  readonly encoder: CodecContext;
};

/**
 * Writes one rendition as HLS with fragmented MP4: `<rung>/init.mp4`, `<rung>/index.m3u8` and
 * `<rung>/000.m4s` onwards.
 *
 * Video and audio stages write concurrently. Writes are queued here, because a muxer is not
 * reentrant.
 */
export class HlsOutput {
  readonly #rung: Rung;
  /** For video rungs; any other rung is a single segment. */
  readonly segments: SegmentPlan;
  readonly #folder: string;
  readonly #muxer: FormatContext;
  readonly #video: Track | null;
  readonly #audio: Track | null;
  readonly #grows: boolean;
  readonly #sound: CodecContext | null;
  readonly #download: ProgressiveFile | null;
  /** Minimum length of the last segment, in frames. */
  readonly #minLastFrames: bigint;
  #lastWrite: Promise<void> = Promise.resolve();
  /** Pictures since the last key frame, held back while they may be too few for a segment. */
  #held: Packet[] = [];
  #startsSegment = false;
  #hasStarted = false;

  private constructor(
    rung: Rung,
    folder: string,
    muxer: FormatContext,
    tracks: { video: Track | null; audio: Track | null; sound: CodecContext | null },
    { grows, hasShortStart, segmentSeconds }: HlsOptions,
    download: ProgressiveFile | null,
  ) {
    this.#download = download;
    this.#rung = rung;
    this.#grows = grows;
    this.#folder = folder;
    this.#muxer = muxer;
    this.#video = tracks.video;
    this.#audio = tracks.audio;
    this.#sound = tracks.sound;
    const framesPerSecond = rung.kind === 'video' ? rung.frameRate.num / rung.frameRate.den : 0;
    this.segments =
      rung.kind === 'video'
        ? planSegments(rung, { segmentSeconds, hasShortStart })
        : { leadFrames: 0, segmentFrames: 1 };
    this.#minLastFrames = BigInt(Math.floor(segmentSeconds * MIN_LAST_SEGMENT * framesPerSecond));
  }

  /**
   * Creates the rung's folder inside `outputDir` and writes the header for opened encoders. With
   * `hasDownload`, the rung is also written as a single MP4.
   */
  static async open(
    outputDir: string,
    rung: Rung,
    encoders: { video: CodecContext | null; audio: CodecContext | null },
    options: HlsOptions,
  ): Promise<HlsOutput> {
    const { segmentSeconds, hasDownload, keepsSoundApart } = options;
    const folder = join(outputDir, rung.name);
    await mkdir(folder);
    const muxer = new FormatContext();
    check(muxer.allocOutputContext2(null, 'hls', join(folder, MEDIA_PLAYLIST)), 'open HLS output');
    const tracks = {
      video: encoders.video === null ? null : addTrack(muxer, encoders.video),
      audio: encoders.audio === null || keepsSoundApart ? null : addTrack(muxer, encoders.audio),
    };
    muxer.maxInterleaveDelta = MAX_INTERLEAVE_DELTA;
    using muxing = Dictionary.fromObject({
      // Segment boundaries are controlled by key frame flags: see `#write`.
      hls_time: rung.kind === 'video' ? SHORTEST_SEGMENT_SECONDS : segmentSeconds,
      hls_playlist_type: options.grows ? 'event' : 'vod',
      hls_segment_type: 'fmp4',
      hls_flags: `independent_segments${options.grows ? '+temp_file' : ''}`,
      hls_segment_options: 'movflags=+frag_discont',
      output_ts_offset: TIMELINE_START_SECONDS,
      // Without this, video would be shifted by the reordering delay, which differs between rungs.
      hls_fmp4_init_filename: INIT_SEGMENT,
      hls_segment_filename: join(folder, '%03d.m4s'),
    });
    check(await muxer.writeHeader(muxing), 'write HLS header');
    const opened = [encoders.video, encoders.audio].filter((encoder) => encoder !== null);
    const download = hasDownload
      ? await ProgressiveFile.open(outputDir, opened, MAX_INTERLEAVE_DELTA)
      : null;
    return new HlsOutput(
      rung,
      folder,
      muxer,
      { ...tracks, sound: encoders.audio },
      options,
      download,
    );
  }

  /** Takes ownership of a packet in the video encoder's time base. */
  async writeVideo(packet: Packet): Promise<void> {
    // The encoder leaves durations to the muxer, which would have to guess the last frame's.
    if (packet.duration === 0n) packet.duration = 1n;
    const isStart = packet.isKeyframe && startsSegment(this.segments, packet.pts);
    if (isStart) await this.#release();
    this.#startsSegment ||= isStart;
    const start = isStart ? packet : this.#held[0];
    this.#held.push(packet);
    const isLong = start === undefined || endOf(packet) - start.pts >= this.#minLastFrames;
    if (isLong) await this.#release();
  }

  async #release(): Promise<void> {
    const packets = this.#held;
    this.#held = [];
    const track = required(this.#video, 'a video track');
    for (const packet of packets) {
      await this.#write(packet, track, this.#startsSegment);
      this.#startsSegment = false;
    }
    this.#hasStarted ||= packets.length > 0;
  }

  /**
   * Writes a copy of a packet in the audio encoder's time base; the packet itself goes to every
   * rung.
   */
  writeAudio(packet: Packet): Promise<void> {
    const copy = required(packet.clone(), 'memory');
    if (this.#audio !== null) return this.#write(copy, this.#audio, true);
    const sound = required(this.#sound, 'a sound');
    this.#lastWrite = this.#lastWrite.then(() => this.#download?.write(copy, sound) ?? copy.free());
    return this.#lastWrite;
  }

  /** The muxer starts a segment at each picture that is flagged as a key frame. */
  #write(packet: Packet, track: Track, startsSegment: boolean): Promise<void> {
    const download = this.#download;
    const copy = download === null ? null : required(packet.clone(), 'memory');
    if (!startsSegment) packet.isKeyframe = false;
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

  /** Describes this rendition before it exists, with its maximum bit rate. */
  announcement(): PlaylistVariant {
    const rung = this.#rung;
    const isVideo = rung.kind === 'video';
    const sound = this.#audio === null ? 0 : AUDIO_BITRATE_BPS;
    const rate = (isVideo ? rung.maxBitrateBps : 0) + sound;
    return {
      playlist: `${rung.name}/${MEDIA_PLAYLIST}`,
      peakBandwidthBps: rate,
      averageBandwidthBps: rate,
      codecs: this.#codecs(),
      width: isVideo ? rung.width : null,
      height: isVideo ? rung.height : null,
      frameRate: isVideo ? roundFrameRate(rung.frameRate) : null,
    };
  }

  #codecs(): string {
    const tracks = [this.#video, this.#audio].filter((track) => track !== null);
    return tracks
      .map(({ stream }) => required(avGetCodecString(stream.codecpar), 'a codec string'))
      .join(',');
  }

  /** Closes the last segment and the playlist, and measures the result. */
  async finish(): Promise<Rendition> {
    // A remainder too short for its own segment is added to the previous one.
    if (this.#hasStarted) this.#startsSegment = false;
    if (this.#held.length > 0) await this.#release();
    await this.#lastWrite;
    check(await this.#muxer.writeTrailer(), 'finish HLS output');
    await this.#download?.finish();
    const { playlist: name, peakBandwidthBps: _, ...announced } = this.announcement();
    this.#muxer.freeContext();
    const path = join(this.#folder, MEDIA_PLAYLIST);
    const written = withTargetDuration(await readFile(path, 'utf8'));
    const playlist = this.#grows ? endedPlaylist(written) : written;
    // Written under a temporary name first, because it may be in the middle of being read.
    await writeFile(`${path}.tmp`, playlist);
    await rename(`${path}.tmp`, path);
    const sizeOf = async (name: string): Promise<number> =>
      (await stat(join(this.#folder, name))).size;
    const summary = await summarizeMediaPlaylist(playlist, sizeOf);
    return { ...announced, ...summary, name: this.#rung.name, playlist: name };
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
