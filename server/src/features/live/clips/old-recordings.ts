/**
 * Rebuilds the segment index of recordings made before it was stored. It is read from the file
 * once, then stored as if it had always existed.
 */
import { buffer } from 'node:stream/consumers';
import { inTransaction, type Db } from '../../../platform/database/database.ts';
import type { Storage } from '../../../platform/storage/storage.ts';
import { RangeNotSatisfiableError } from '../../../platform/storage/storage-errors.ts';
import { readAacHeader, type AacHeader } from '../ingest/aac-header.ts';
import { videoTimescale, type Tracks } from '../ingest/init-segment.ts';
import { storedFormat } from '../ingest/formats.ts';
import { insertFormat } from '../ingest/publisher-queries.ts';
import { readVideoHeader } from '../ingest/video-header.ts';
import type { LiveStreamKey } from '../queries.ts';
import { insertOldSegments, type OldSegment } from './clip-queries.ts';
import { readSamples } from './segment-samples.ts';

/** A fragment's tables take a few kilobytes; a header is smaller. */
const readAtOnce = 64 * 1024;
const maxTablesBytes = 16 * 1024 * 1024;

type Box = { readonly name: string; readonly size: number };

/**
 * The offset of a recording's first segment, after `ftyp` and `moov`, or null if it is not such a
 * file.
 */
export async function recordingHeader(
  storage: Storage,
  sourceKey: string,
  signal: AbortSignal,
): Promise<Buffer | null> {
  const start = await readRange(storage, sourceKey, 0, readAtOnce, signal);
  if (start === null || start.length < 16) return null;
  const first = boxAt(start, 0);
  if (first.name !== 'ftyp' || first.size + 8 > start.length) return null;
  const second = boxAt(start, first.size);
  const end = first.size + second.size;
  return second.name === 'moov' && end <= start.length ? start.subarray(0, end) : null;
}

/** @returns false if the file is not one of our recordings */
export async function indexRecording(
  { db, storage }: { db: Db; storage: Storage },
  key: LiveStreamKey,
  sourceKey: string,
  signal: AbortSignal,
): Promise<boolean> {
  const header = await recordingHeader(storage, sourceKey, signal);
  if (header === null) return false;
  const tracks = { video: findVideo(header), audio: findAudio(header) };
  if (tracks.video === null && tracks.audio === null) return false;
  const segments: OldSegment[] = [];
  for (let at = header.length; ;) {
    const found = await readFragment(storage, sourceKey, at, signal);
    if (found === null) break;
    const durationMs = lengthOf(found.moof, tracks);
    segments.push({ number: segments.length, durationMs, sizeBytes: found.size });
    at += found.size;
  }
  if (segments.length === 0) return false;
  await inTransaction(db, async (tx) => {
    await insertFormat(tx, key, storedFormat({ number: 0, tracks }));
    await insertOldSegments(tx, key, segments);
  });
  return true;
}

/** The tables of the fragment at an offset, and its size including media data; null at the end. */
async function readFragment(
  storage: Storage,
  sourceKey: string,
  at: number,
  signal: AbortSignal,
): Promise<{ moof: Buffer; size: number } | null> {
  let bytes = await readRange(storage, sourceKey, at, readAtOnce, signal);
  if (bytes === null || bytes.length < 16) return null;
  const moof = boxAt(bytes, 0);
  if (moof.name !== 'moof' || moof.size > maxTablesBytes) return null;
  if (moof.size + 8 > bytes.length) {
    bytes = await readRange(storage, sourceKey, at, moof.size + 8, signal);
    if (bytes === null || bytes.length < moof.size + 8) return null;
  }
  const media = boxAt(bytes, moof.size);
  if (media.name !== 'mdat') return null;
  return { moof: bytes.subarray(0, moof.size), size: moof.size + media.size };
}

function lengthOf(moof: Buffer, { audio, video }: Tracks): number {
  const samples = readSamples(moof);
  const sum = (run: readonly { duration: number }[]) =>
    run.reduce((total, { duration }) => total + duration, 0);
  const units = video === null ? sum(samples.audio) : sum(samples.video);
  const perSecond = video === null ? (audio?.sampleRate ?? videoTimescale) : videoTimescale;
  return Math.round((units * 1_000) / perSecond);
}

async function readRange(
  storage: Storage,
  key: string,
  start: number,
  count: number,
  signal: AbortSignal,
): Promise<Buffer | null> {
  try {
    const read = await storage.read(key, { start, end: start + count - 1 }, signal);
    return read === null ? null : await buffer(read.stream);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof RangeNotSatisfiableError) return null;
    throw error;
  }
}

function boxAt(bytes: Buffer, at: number): Box {
  return { size: bytes.readUInt32BE(at), name: bytes.toString('latin1', at + 4, at + 8) };
}

function findVideo(header: Buffer): Tracks['video'] {
  const record = boxNamed(header, 'avcC');
  return record === null ? null : readVideoHeader('avc1', record);
}

/** The configuration is where `init-segment.ts` puts it. */
function findAudio(header: Buffer): AacHeader | null {
  const descriptors = boxNamed(header, 'esds');
  const configAt = 24;
  const decoderSpecific = 5;
  if (descriptors?.[configAt] !== decoderSpecific) return null;
  const length = descriptors[configAt + 1] ?? 0;
  return readAacHeader(Buffer.from(descriptors.subarray(configAt + 2, configAt + 2 + length)));
}

function boxNamed(header: Buffer, name: string): Buffer | null {
  const at = header.indexOf(name, undefined, 'latin1') - 4;
  return at < 0 ? null : Buffer.from(header.subarray(at + 8, at + header.readUInt32BE(at)));
}
