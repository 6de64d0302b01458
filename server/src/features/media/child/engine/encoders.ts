import { Codec, CodecContext, Dictionary, Packet, Rational, type Frame } from 'node-av/lib';
import {
  AVCOL_PRI_BT709,
  AVCOL_RANGE_MPEG,
  AVCOL_SPC_BT709,
  AVCOL_TRC_BT709,
  AV_CHANNEL_LAYOUT_STEREO,
  AV_CODEC_FLAG_CLOSED_GOP,
  AV_CODEC_FLAG_GLOBAL_HEADER,
  AV_PICTURE_TYPE_I,
  AV_PICTURE_TYPE_NONE,
  AV_PIX_FMT_YUV420P,
  AV_SAMPLE_FMT_FLTP,
  FF_ENCODER_AAC,
  FF_ENCODER_LIBSVTAV1,
  FF_ENCODER_LIBX264,
} from 'node-av/constants';
import type { VideoRung } from '../../ladder.ts';
import { check, received, required } from './engine.ts';

export const AUDIO_SAMPLE_RATE = 48_000;
export const AUDIO_BITRATE_BPS = 128_000;
export const AUDIO_FRAME_SAMPLES = 1024;
/** Key frame interval. Every segment starts with a key frame, so a player can switch at each. */
export const GOP_SECONDS = 2;

/** Size of the rate control buffer, in seconds at the maximum bit rate. */
const BUFFER_SECONDS = 1.5;

/** Constant quality, capped at the rung's bit rate, so simple pictures stay small. */
const H264_OPTIONS = {
  fast: { preset: 'veryfast', crf: '23' },
  slow: { preset: 'slow', crf: '22' },
} as const;
/**
 * SVT-AV1's CRF scale goes up to 63; 35 looks like 23 in x264. Presets from 10 up are for real
 * time.
 */
const AV1_OPTIONS = { preset: '9', crf: '35', 'svtav1-params': 'scd=0:tune=0' } as const;

/** Frames per GOP, rounded up so that it is never shorter than {@link GOP_SECONDS}. */
export function gopFrames(rung: VideoRung): number {
  return Math.ceil((GOP_SECONDS * rung.frameRate.num) / rung.frameRate.den);
}

/** Opens the video encoder of a rung with up to `threads` threads. Its time base is one frame. */
export async function openVideoEncoder(rung: VideoRung, threads: number): Promise<CodecContext> {
  const isAv1 = rung.codec === 'av1';
  const name = isAv1 ? FF_ENCODER_LIBSVTAV1 : FF_ENCODER_LIBX264;
  const codec = required(Codec.findEncoderByName(name), name);
  const context = new CodecContext();
  context.allocContext3(codec);
  const frames = gopFrames(rung);
  describePictures(context, rung);
  context.timeBase = new Rational(rung.frameRate.den, rung.frameRate.num);
  context.gopSize = frames;
  context.threadCount = threads;
  using options = Dictionary.fromObject(
    isAv1
      ? AV1_OPTIONS
      : {
          ...H264_OPTIONS[rung.effort ?? 'fast'],
          profile: 'high',
          keyint_min: frames,
          sc_threshold: 0,
        },
  );
  check(await context.open2(codec, options), 'open video encoder');
  return context;
}

/** Without B-frames, decoding and presentation times are equal and little is buffered. */
const LIVE_OPTIONS = { ...H264_OPTIONS.fast, profile: 'high', bf: 0, sc_threshold: 0 } as const;
/**
 * Key frames are forced at segment starts, so the GOP size only needs to exceed the longest
 * segment.
 */
const LIVE_GOP_FRAMES = 1_000;

/** Opens the encoder of a live rung. Its time base is one millisecond. */
export async function openLiveEncoder(rung: VideoRung): Promise<CodecContext> {
  const codec = required(Codec.findEncoderByName(FF_ENCODER_LIBX264), FF_ENCODER_LIBX264);
  const context = new CodecContext();
  context.allocContext3(codec);
  describePictures(context, rung);
  context.timeBase = new Rational(1, 1_000);
  context.gopSize = LIVE_GOP_FRAMES;
  context.threadCount = 1;
  using options = Dictionary.fromObject({ ...LIVE_OPTIONS, keyint_min: LIVE_GOP_FRAMES });
  check(await context.open2(codec, options), 'open video encoder');
  return context;
}

function describePictures(context: CodecContext, rung: VideoRung): void {
  context.width = rung.width;
  context.height = rung.height;
  context.pixelFormat = AV_PIX_FMT_YUV420P;
  context.framerate = new Rational(rung.frameRate.num, rung.frameRate.den);
  context.sampleAspectRatio = new Rational(1, 1);
  context.colorRange = AVCOL_RANGE_MPEG;
  context.colorPrimaries = AVCOL_PRI_BT709;
  context.colorTrc = AVCOL_TRC_BT709;
  context.colorSpace = AVCOL_SPC_BT709;
  context.rcMaxRate = BigInt(rung.maxBitrateBps);
  context.rcBufferSize = rung.maxBitrateBps * BUFFER_SECONDS;
  context.setFlags(AV_CODEC_FLAG_GLOBAL_HEADER, AV_CODEC_FLAG_CLOSED_GOP);
}

/** Opens an AAC encoder, stereo by default. Its time base is one sample. */
export async function openAudioEncoder(layout = AV_CHANNEL_LAYOUT_STEREO): Promise<CodecContext> {
  const codec = required(Codec.findEncoderByName(FF_ENCODER_AAC), 'aac');
  const context = new CodecContext();
  context.allocContext3(codec);
  context.sampleRate = AUDIO_SAMPLE_RATE;
  context.sampleFormat = AV_SAMPLE_FMT_FLTP;
  context.channelLayout = layout;
  context.bitRate = BigInt(AUDIO_BITRATE_BPS);
  context.timeBase = new Rational(1, AUDIO_SAMPLE_RATE);
  context.setFlags(AV_CODEC_FLAG_GLOBAL_HEADER);
  check(await context.open2(codec, null), 'open audio encoder');
  return context;
}

/**
 * Feeds one frame (null flushes) and yields finished packets, which the caller frees. `isKey`
 * forces a key frame and restarts the key frame interval.
 */
export async function* encode(
  context: CodecContext,
  frame: Frame | null,
  isKey = false,
): AsyncGenerator<Packet> {
  // The frame still has the picture type from its source, which the encoder would follow.
  if (frame !== null) frame.pictType = isKey ? AV_PICTURE_TYPE_I : AV_PICTURE_TYPE_NONE;
  check(await context.sendFrame(frame), 'encode frame');
  for (;;) {
    const packet = new Packet();
    packet.alloc();
    if (!received(await context.receivePacket(packet), 'take encoded packet')) {
      packet.free();
      return;
    }
    yield packet;
  }
}

/** Encodes and frees frames. Each packet is passed to `write`, which frees it. */
export async function encodeAll(
  frames: AsyncIterable<Frame>,
  context: CodecContext,
  { isKey, write }: { isKey: (frame: Frame) => boolean; write: (packet: Packet) => Promise<void> },
): Promise<void> {
  for await (const frame of frames) {
    for await (const packet of encode(context, frame, isKey(frame))) await write(packet);
    frame.free();
  }
}
