/** Selects the additional tracks that a rendition can contain, and names them. */
import type { Stream } from 'node-av/lib';
import {
  AV_CODEC_ID_ASS,
  AV_CODEC_ID_MOV_TEXT,
  AV_CODEC_ID_SSA,
  AV_CODEC_ID_SUBRIP,
  AV_CODEC_ID_TEXT,
  AV_CODEC_ID_WEBVTT,
} from 'node-av/constants';
import { trackName, type TrackName } from '../../track-names.ts';

/** Files with more tracks are built to be expensive. */
export const MAX_OTHER_SOUNDS = 7;
export const MAX_SUBTITLES = 32;

/** Codecs of text subtitles; all others are bitmaps. */
const TEXT_CODECS: ReadonlySet<number> = new Set([
  AV_CODEC_ID_MOV_TEXT,
  AV_CODEC_ID_SUBRIP,
  AV_CODEC_ID_TEXT,
  AV_CODEC_ID_WEBVTT,
  AV_CODEC_ID_ASS,
  AV_CODEC_ID_SSA,
]);

export function isText({ codecpar }: Stream): boolean {
  return TEXT_CODECS.has(codecpar.codecId);
}

/** The name of a stream from the container's tags. */
export function nameOfStream(stream: Stream, fallback: string): TrackName {
  const { language, title, handler_name: handler } = stream.metadata?.getAll() ?? {};
  // FFmpeg and phones write the name of a program there.
  const isTitle = handler !== undefined && !/handler|apple|core media/i.test(handler);
  return trackName({ language, title: title ?? (isTitle ? handler : undefined) }, fallback);
}
