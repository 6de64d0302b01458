import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  avGetCodecString,
  Codec,
  CodecContext,
  FormatContext,
  Frame,
  Log,
  Packet,
  type Stream,
} from 'node-av/lib';
import {
  AVCOL_PRI_BT709,
  AVCOL_RANGE_MPEG,
  AVCOL_SPC_BT709,
  AVCOL_TRC_BT709,
  AVMEDIA_TYPE_VIDEO,
  AV_FRAME_DATA_DOVI_METADATA,
  AV_LOG_QUIET,
} from 'node-av/constants';
import { captionPairs } from '../child/picture/closed-captions.ts';
import { check, received, required } from '../child/engine/engine.ts';
import { parseMediaPlaylist } from '../media-playlist.ts';

/** Reads media back for tests, independently of how it was written, by decoding every frame. */

Log.setLevel(AV_LOG_QUIET);

const IDR_SLICE = 5;

export type ReadFrame = {
  readonly seconds: number;
  readonly width: number;
  readonly height: number;
  /** Mean brightness (0 to 255) of a picture, or mean absolute sample (0 to 1) of audio. */
  readonly level: number;
  /** Seconds from the start of an audio frame to its first audible sample, or null. */
  readonly onset: number | null;
  /** Text of a picture's closed captions, without control codes. */
  readonly captions: string;
};

export type ReadTrack = {
  readonly isVideo: boolean;
  readonly codec: string;
  /** Whether each packet is an H.264 picture from which decoding can start. */
  readonly packetIsIdr: boolean[];
  readonly frames: ReadFrame[];
  /** `bt709` if the first frame declares BT.709 primaries, transfer, matrix and limited range. */
  readonly colors: string;
  /** Whether the first frame carries Dolby Vision metadata. */
  readonly hasDolbyVision: boolean;
  /** Y, Cb and Cr of the first frame at a position given as fractions of the size. */
  readonly pixel: (x: number, y: number) => [number, number, number];
};

/** Whether a packet in AVCC form (four-byte lengths) contains an IDR slice. */
function holdsIdr(data: Buffer): boolean {
  for (let offset = 0; offset + 4 < data.length; offset += 4 + data.readUInt32BE(offset)) {
    if (((data[offset + 4] ?? 0) & 31) === IDR_SLICE) return true;
  }
  return false;
}

function pixelReader(frame: Frame): ReadTrack['pixel'] {
  const planes = (frame.data ?? []).map((plane) => Buffer.from(plane));
  const strides = [...frame.linesize];
  const { width, height } = frame;
  const at = (plane: number, x: number, y: number): number => {
    const divisor = plane === 0 ? 1 : 2;
    const row = Math.floor((y * height) / divisor);
    const column = Math.floor((x * width) / divisor);
    return planes[plane]?.[row * (strides[plane] ?? 0) + column] ?? -1;
  };
  return (x, y) => [at(0, x, y), at(1, x, y), at(2, x, y)];
}

/** See {@link ReadFrame.level}; audio is read as planar floats, AAC's output format. */
function levelOf(frame: Frame, isVideo: boolean): number {
  const plane = frame.data?.[0];
  if (plane === undefined) return 0;
  if (!isVideo) {
    let sum = 0;
    for (let index = 0; index < frame.nbSamples; index += 1) {
      sum += Math.abs(plane.readFloatLE(index * 4));
    }
    return sum / Math.max(1, frame.nbSamples);
  }
  const stride = frame.linesize[0] ?? frame.width;
  let sum = 0;
  let count = 0;
  for (let row = 0; row < frame.height; row += 8) {
    for (let column = 0; column < frame.width; column += 8) {
      sum += plane[row * stride + column] ?? 0;
      count += 1;
    }
  }
  return sum / Math.max(1, count);
}

/** Louder than AAC's pre-echo of a sudden sound. */
const HEARD = 0.02;

function onsetOf(frame: Frame): number | null {
  const plane = frame.data?.[0];
  if (plane === undefined) return null;
  for (let index = 0; index < frame.nbSamples; index += 1) {
    if (Math.abs(plane.readFloatLE(index * 4)) > HEARD) return index / frame.sampleRate;
  }
  return null;
}

function colorsOf({ colorPrimaries, colorTrc, colorSpace, colorRange }: Frame): string {
  const isBt709 =
    colorPrimaries === AVCOL_PRI_BT709 &&
    colorTrc === AVCOL_TRC_BT709 &&
    colorSpace === AVCOL_SPC_BT709 &&
    colorRange === AVCOL_RANGE_MPEG;
  return isBt709 ? 'bt709' : [colorPrimaries, colorTrc, colorSpace, colorRange].join('/');
}

function captionsOf(frame: Frame): string {
  const letters = captionPairs(frame).filter(([first]) => first >= 0x20);
  return Buffer.from(letters.flat().filter((byte) => byte > 0)).toString('ascii');
}

class TrackReader {
  readonly #stream: Stream;
  readonly #decoder = new CodecContext();
  readonly #packetIsIdr: boolean[] = [];
  readonly #frames: ReadFrame[] = [];
  #pixel: ReadTrack['pixel'] = () => [-1, -1, -1];
  #colors = '';
  #hasDolbyVision = false;

  constructor(stream: Stream) {
    this.#stream = stream;
    const codec = required(Codec.findDecoder(stream.codecpar.codecId), 'a decoder');
    this.#decoder.allocContext3(codec);
    check(this.#decoder.parametersToContext(stream.codecpar), 'parameters');
    this.#decoder.pktTimebase = stream.timeBase;
    check(this.#decoder.open2Sync(codec), 'open decoder');
  }

  read(packet: Packet | null): void {
    if (packet !== null) this.#packetIsIdr.push(holdsIdr(packet.data ?? Buffer.alloc(0)));
    check(this.#decoder.sendPacketSync(packet), 'decode');
    for (;;) {
      const frame = new Frame();
      frame.alloc();
      if (!received(this.#decoder.receiveFrameSync(frame), 'take frame')) return;
      if (this.#frames.length === 0) {
        this.#pixel = pixelReader(frame);
        this.#colors = colorsOf(frame);
        this.#hasDolbyVision = frame.getSideData(AV_FRAME_DATA_DOVI_METADATA) !== null;
      }
      const seconds = Number(frame.bestEffortTimestamp) * this.#stream.timeBase.toDouble();
      const isVideo = this.#stream.codecpar.codecType === AVMEDIA_TYPE_VIDEO;
      const level = levelOf(frame, isVideo);
      const onset = isVideo ? null : onsetOf(frame);
      const { height, width } = frame;
      const captions = captionsOf(frame);
      this.#frames.push({ seconds, width, height, level, onset, captions });
      frame.free();
    }
  }

  finish(): ReadTrack {
    this.read(null);
    return {
      isVideo: this.#stream.codecpar.codecType === AVMEDIA_TYPE_VIDEO,
      codec: avGetCodecString(this.#stream.codecpar) ?? '',
      packetIsIdr: this.#packetIsIdr,
      frames: this.#frames,
      colors: this.#colors,
      hasDolbyVision: this.#hasDolbyVision,
      pixel: this.#pixel,
    };
  }
}

/** Decodes a whole file; any decoding error throws. */
export async function readMedia(path: string): Promise<ReadTrack[]> {
  const container = new FormatContext();
  container.allocContext();
  check(await container.openInput(path), 'open');
  check(await container.findStreamInfo(null), 'find streams');
  const readers = container.streams.map((stream) => new TrackReader(stream));
  const packet = new Packet();
  packet.alloc();
  while (received(await container.readFrame(packet), 'read')) {
    readers[packet.streamIndex]?.read(packet);
    packet.unref();
  }
  const tracks = readers.map((reader) => reader.finish());
  await container.closeInput();
  return tracks;
}

export type ReadSegment = {
  readonly declaredSeconds: number;
  readonly video: ReadTrack | undefined;
  readonly audio: ReadTrack | undefined;
};

/** All video and audio frames of a rendition in order. */
export async function readRendition(
  folder: string,
): Promise<{ pictures: ReadFrame[]; sounds: ReadFrame[] }> {
  const segments = await readSegments(folder);
  return {
    pictures: segments.flatMap(({ video }) => video?.frames ?? []),
    sounds: segments.flatMap(({ audio }) => audio?.frames ?? []),
  };
}

/** Decodes each segment of a rendition separately, as a player does after a seek. */
export async function readSegments(folder: string): Promise<ReadSegment[]> {
  const playlist = parseMediaPlaylist(await readFile(join(folder, 'index.m3u8'), 'utf8'));
  const init = await readFile(join(folder, required(playlist.initSegment, 'an init segment')));
  const work = await mkdtemp(join(tmpdir(), 'reelfeed-segments-'));
  try {
    const segments: ReadSegment[] = [];
    for (const { name, durationSeconds } of playlist.segments) {
      const path = join(work, `${name}.mp4`);
      await writeFile(path, Buffer.concat([init, await readFile(join(folder, name))]));
      const tracks = await readMedia(path);
      segments.push({
        declaredSeconds: durationSeconds,
        video: tracks.find((track) => track.isVideo),
        audio: tracks.find((track) => !track.isVideo),
      });
    }
    return segments;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
