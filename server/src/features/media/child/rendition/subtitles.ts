import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Stream } from 'node-av/lib';
import {
  AV_CODEC_ID_ASS,
  AV_CODEC_ID_MOV_TEXT,
  AV_CODEC_ID_SSA,
  AV_NOPTS_VALUE,
} from 'node-av/constants';
import type { CompleteResult } from '../../tasks.ts';
import { readPackets } from '../source/decoding.ts';
import { nameOfStream } from '../source/kept-tracks.ts';
import { readOnly } from '../source/open-track.ts';
import { openSource, type Source } from '../source/source.ts';
import type { TaskMeter } from '../task-meter.ts';

type Cue = { startMs: number; endMs: number; text: string };

/** The same limit as for an uploaded caption file. */
const MAX_CUES = 20_000;
const MAX_CUE_BYTES = 8_000;
/** Duration of a cue whose packet does not declare one. */
const DEFAULT_CUE_MS = 4_000;
/** Fields before the text in a line of ASS in Matroska. */
const ASS_FIELDS = 8;

/**
 * Writes each text subtitle track as SubRip in one pass over the file. The text is unmodified,
 * including markup, so callers must sanitize it before display.
 */
export async function writeSubtitles(
  { path, subtitles: { length }, survey }: Source,
  outputDir: string,
  meter: TaskMeter,
): Promise<NonNullable<CompleteResult['subtitles']>> {
  if (length === 0) return [];
  const source = await openSource(path, { survey });
  const tracks = source.subtitles;
  const cues = await readTracks(source, tracks, meter);
  const written: NonNullable<CompleteResult['subtitles']> = [];
  for (const [index, stream] of tracks.entries()) {
    const lines = cues.get(stream.index) ?? [];
    if (lines.length === 0) continue;
    const file = `subtitles-${index + 1}.srt`;
    await writeFile(join(outputDir, file), lines.map(subRip).join('\n'));
    written.push({ ...nameOfStream(stream, `Subtitles ${index + 1}`), cues: file });
  }
  await source.container.closeInput();
  return written;
}

async function readTracks(
  source: Source,
  tracks: readonly Stream[],
  meter: TaskMeter,
): Promise<Map<number, Cue[]>> {
  const cues = new Map<number, Cue[]>(tracks.map(({ index }) => [index, []]));
  readOnly(source, [...cues.keys()]);
  for await (const packet of readPackets(source.container)) {
    const stream = tracks.find(({ index }) => index === packet.streamIndex);
    const list = cues.get(packet.streamIndex);
    if (stream !== undefined && list !== undefined && list.length < MAX_CUES) {
      const { data, pts, duration } = packet;
      const startMs = pts === AV_NOPTS_VALUE ? null : toMs(pts, stream, source);
      const text = textOf(data ?? Buffer.alloc(0), stream.codecpar.codecId);
      const shownMs = Number(duration) * stream.timeBase.toDouble() * 1_000;
      if (startMs !== null && startMs >= 0 && text !== '') {
        const endMs = Math.round(startMs + (shownMs > 0 ? shownMs : DEFAULT_CUE_MS));
        list.push({ startMs, endMs, text });
      }
    }
    packet.free();
    meter.addWork();
  }
  return cues;
}

function toMs(ticks: bigint, { timeBase }: Stream, { startMicroseconds }: Source): number {
  return Math.round(
    Number(ticks) * timeBase.toDouble() * 1_000 - Number(startMicroseconds) / 1_000,
  );
}

/** The text of a packet. Empty if it shows nothing. */
export function textOf(data: Buffer, codecId: number): string {
  const bytes = codecId === AV_CODEC_ID_MOV_TEXT ? movText(data) : data;
  const text = new TextDecoder().decode(bytes.subarray(0, MAX_CUE_BYTES)).replace(/\r\n?/g, '\n');
  const isAss = codecId === AV_CODEC_ID_ASS || codecId === AV_CODEC_ID_SSA;
  return (isAss ? assText(text) : text)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('\n');
}

/** 3GPP timed text (TS 26.245): a two-byte length, the text, then style boxes. */
function movText(data: Buffer): Buffer {
  return data.length < 2 ? Buffer.alloc(0) : data.subarray(2, 2 + data.readUInt16BE(0));
}

/** `order,layer,style,name,left,right,vertical,effect,text`; `\N` is a line break. */
function assText(line: string): string {
  const text = line.split(',').slice(ASS_FIELDS).join(',');
  return text
    .replace(/\{[^}]*\}/g, '')
    .replace(/\\[Nn]/g, '\n')
    .replaceAll('\\h', ' ');
}

function subRip({ startMs, endMs, text }: Cue, index: number): string {
  return `${index + 1}\n${clock(startMs)} --> ${clock(endMs)}\n${text}\n`;
}

function clock(ms: number): string {
  const two = (value: number): string => String(Math.floor(value)).padStart(2, '0');
  const fraction = String(ms % 1_000).padStart(3, '0');
  return `${two(ms / 3_600_000)}:${two((ms / 60_000) % 60)}:${two((ms / 1_000) % 60)},${fraction}`;
}
