import { Dictionary, FormatContext, Packet, type Stream } from 'node-av/lib';
import {
  AVMEDIA_TYPE_AUDIO,
  AVMEDIA_TYPE_SUBTITLE,
  AV_CODEC_ID_ASS,
  AV_CODEC_ID_MOV_TEXT,
  AV_CODEC_ID_SUBRIP,
  AV_DISPOSITION_DEFAULT,
} from 'node-av/constants';
import { check, received } from '../child/engine/engine.ts';

/** A line of subtitles, in milliseconds. */
type Line = { readonly startMs: number; readonly endMs: number; readonly text: string };

export type AddedTracks = {
  /** Audio from other files, with its language tag. */
  readonly sounds: readonly { readonly path: string; readonly language: string }[];
  readonly subtitles: readonly {
    readonly codec: 'subrip' | 'ass' | 'mov_text';
    readonly language: string;
    readonly title?: string;
    readonly lines: readonly Line[];
  }[];
};

const CODECS = {
  subrip: AV_CODEC_ID_SUBRIP,
  ass: AV_CODEC_ID_ASS,
  mov_text: AV_CODEC_ID_MOV_TEXT,
} as const;

const ASS_HEADER = [
  '[Script Info]',
  'ScriptType: v4.00+',
  '[V4+ Styles]',
  'Format: Name, Fontname, Fontsize',
  'Style: Default,Arial,16',
  '[Events]',
  'Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text',
].join('\n');

type Copied = { packet: Packet; stream: number; seconds: number };

async function open(path: string): Promise<FormatContext> {
  const container = new FormatContext();
  container.allocContext();
  check(await container.openInput(path), 'open');
  check(await container.findStreamInfo(null), 'find streams');
  return container;
}

/** Copies a clip to another file and adds tracks; the clip's own audio is tagged as English. */
export async function addTracks(
  clip: string,
  path: string,
  { sounds, subtitles }: AddedTracks,
): Promise<void> {
  const muxer = new FormatContext();
  check(muxer.allocOutputContext2(null, null, path), 'open output');
  const copies: Copied[] = [];
  const clocks: Stream['timeBase'][] = [];
  const copy = async (from: string, onlySound: boolean, language: string): Promise<void> => {
    const container = await open(from);
    const targets = new Map<number, number>();
    for (const stream of container.streams) {
      const isSound = stream.codecpar.codecType === AVMEDIA_TYPE_AUDIO;
      if (onlySound && !isSound) continue;
      const target = muxer.newStream(null);
      check(stream.codecpar.copy(target.codecpar), 'copy parameters');
      target.codecpar.codecTag = 0;
      target.timeBase = stream.timeBase;
      if (isSound) target.metadata = Dictionary.fromObject({ language });
      if (!onlySound) target.disposition = AV_DISPOSITION_DEFAULT;
      targets.set(stream.index, target.index);
      clocks[target.index] = stream.timeBase;
    }
    for (;;) {
      const packet = new Packet();
      packet.alloc();
      if (!received(await container.readFrame(packet), 'read')) break;
      const stream = targets.get(packet.streamIndex);
      if (stream === undefined) continue;
      const seconds = Number(packet.dts) * (clocks[stream]?.toDouble() ?? 0);
      copies.push({ packet, stream, seconds });
    }
  };
  await copy(clip, false, 'eng');
  for (const { language, path: from } of sounds) await copy(from, true, language);
  for (const { codec, language, lines, title } of subtitles) {
    const target = muxer.newStream(null);
    target.codecpar.codecType = AVMEDIA_TYPE_SUBTITLE;
    target.codecpar.codecId = CODECS[codec];
    if (codec === 'ass') target.codecpar.extradata = Buffer.from(ASS_HEADER);
    const clock = { num: 1, den: 1_000 };
    target.timeBase = Object.assign(Object.create(Object.getPrototypeOf(clocks[0] ?? {})), clock);
    clocks[target.index] = target.timeBase;
    target.metadata = Dictionary.fromObject({ language, ...(title !== undefined && { title }) });
    for (const [index, { endMs, startMs, text }] of lines.entries()) {
      const packet = new Packet();
      packet.alloc();
      packet.data = packed(codec, text, index);
      packet.pts = BigInt(startMs);
      packet.dts = packet.pts;
      packet.duration = BigInt(endMs - startMs);
      packet.isKeyframe = true;
      copies.push({ packet, stream: target.index, seconds: startMs / 1_000 });
    }
  }
  check(await muxer.openOutput(), 'open file');
  check(await muxer.writeHeader(null), 'write header');
  for (const { packet, stream } of copies.toSorted((a, b) => a.seconds - b.seconds)) {
    const target = muxer.streams[stream];
    const clock = clocks[stream];
    if (target === undefined || clock === undefined) throw new Error('A track is missing.');
    packet.rescaleTs(clock, target.timeBase);
    packet.streamIndex = stream;
    check(await muxer.interleavedWriteFrame(packet), 'write');
  }
  check(await muxer.writeTrailer(), 'finish');
  await muxer.closeOutput();
}

function packed(codec: keyof typeof CODECS, text: string, index: number): Buffer {
  const bytes = Buffer.from(text);
  if (codec === 'ass') return Buffer.from(`${index},0,Default,,0,0,0,,${text}`);
  if (codec === 'subrip') return bytes;
  const length = Buffer.alloc(2);
  length.writeUInt16BE(bytes.length);
  return Buffer.concat([length, bytes]);
}
