/**
 * Parses captions in SubRip or WebVTT and writes them as plain WebVTT: timings, text, and tags for
 * bold, italics and underline. Everything else (styles, scripts in tags, karaoke positions) is
 * dropped, because players insert cues into web pages.
 */

import { TIMELINE_START_SECONDS } from '../media/media.ts';

export type Cue = { startMs: number; endMs: number; text: string };

const maxCues = 20_000;
const maxCueCharacters = 2_000;

const timing =
  /^\s*(?:(\d{1,3}):)?(\d{1,2}):(\d{2})[.,](\d{1,3})\s*-->\s*(?:(\d{1,3}):)?(\d{1,2}):(\d{2})[.,](\d{1,3})/;

/** The cues of a file ordered by start, or why it is not a caption file. */
export function readCues(text: string): { cues: Cue[] } | { problem: string } {
  const lines = text.replace(/\r\n?/g, '\n').split('\n');
  const cues: Cue[] = [];
  for (let index = 0; index < lines.length; index += 1) {
    const times = timing.exec(lines[index] ?? '');
    if (times === null) continue;
    const [startMs, endMs] = [toMs(times.slice(1, 5)), toMs(times.slice(5, 9))];
    const words: string[] = [];
    while ((lines[index + 1] ?? '').trim() !== '') {
      index += 1;
      words.push(lines[index] ?? '');
    }
    const cue = sanitize(words.join('\n'));
    if (cue === '' || endMs <= startMs) continue;
    if (cue.length > maxCueCharacters) {
      return { problem: `a cue has more than ${maxCueCharacters} characters` };
    }
    cues.push({ startMs, endMs, text: cue });
    if (cues.length > maxCues) return { problem: `there are more than ${maxCues} cues` };
  }
  if (cues.length === 0) return { problem: 'it contains no cue with a time and text' };
  return { cues: cues.toSorted((a, b) => a.startMs - b.startMs) };
}

function toMs([hours, minutes, seconds, fraction = '']: (string | undefined)[]): number {
  const whole = (Number(hours ?? 0) * 60 + Number(minutes)) * 60 + Number(seconds);
  return whole * 1_000 + Number(fraction.padEnd(3, '0'));
}

const keptTag = /^<\/?[biu]>$/i;
const entity = /&(?!(?:amp|lt|gt|nbsp|lrm|rlm);)/g;

/**
 * The text of a cue with bold, italics and underline; all other tags and control characters are
 * removed.
 */
function sanitize(text: string): string {
  return (
    text
      // Positions and fonts of other formats: {\an8}, {\fs20}.
      .replace(/\{\\[^}]*\}/g, '')
      .split(/(<[^<>]*>)/)
      .map((part, index) => (index % 2 === 1 ? keepTag(part) : escapeText(part)))
      .join('')
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '')
      .join('\n')
  );
}

function keepTag(tag: string): string {
  return keptTag.test(tag) ? tag.toLowerCase() : '';
}

function escapeText(text: string): string {
  return (
    text
      // oxlint-disable-next-line no-control-regex -- controls have no place in a cue
      .replace(/[\u0000-\u0009\u000b-\u001f\u007f\ufeff]/g, ' ')
      .toWellFormed()
      .replace(entity, '&amp;')
      .replace(/</g, '&lt;')
      .replace(/>/g, '&gt;')
  );
}

/**
 * Start of the cues on the renditions' timeline, which is not 0 (RFC 8216, section 3.5). Ignored
 * when the file is used beside an MP4.
 */
const timestampMap = `X-TIMESTAMP-MAP=MPEGTS:${TIMELINE_START_SECONDS * 90_000},LOCAL:00:00:00.000`;

export function toWebVtt(cues: readonly Cue[]): string {
  const blocks = cues.map(
    ({ startMs, endMs, text }) => `${clock(startMs)} --> ${clock(endMs)}\n${text}\n`,
  );
  return `WEBVTT\n${timestampMap}\n\n${blocks.join('\n')}`;
}

function clock(ms: number): string {
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0');
  const fraction = String(ms % 1_000).padStart(3, '0');
  return `${two(ms / 3_600_000)}:${two((ms / 60_000) % 60)}:${two((ms / 1_000) % 60)}.${fraction}`;
}

/** An HLS media playlist with the whole file as its only segment. */
export function subtitlePlaylist(cues: readonly Cue[], videoSeconds: number): string {
  const seconds = Math.max(videoSeconds, ...cues.map(({ endMs }) => endMs / 1_000));
  return [
    '#EXTM3U',
    '#EXT-X-VERSION:7',
    `#EXT-X-TARGETDURATION:${Math.ceil(seconds)}`,
    '#EXT-X-PLAYLIST-TYPE:VOD',
    `#EXTINF:${seconds.toFixed(3)},`,
    'captions.vtt',
    '#EXT-X-ENDLIST',
    '',
  ].join('\n');
}
