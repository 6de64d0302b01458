/** One attempt to create the file of an export, part by part. */
import type { Piece, Storage } from '../../platform/storage/storage.ts';
import type { OrganizationId } from '../../platform/values/ids.ts';
import type { Db } from '../../platform/database/database.ts';
import { GarbageLimit } from '../../platform/memory/collect-garbage.ts';
import { toRange, type DatasetParts } from './datasets/dataset.ts';
import { datasetReaders } from './datasets/datasets.ts';
import {
  completeExportFile,
  openExportPieces,
  removeExportPieces,
  requireRoom,
} from './export-files.ts';
import { createWriter } from './formats/formats.ts';
import { saveExportPart, type ExportFile, type ExportPart, type ExportRow } from './queries.ts';

/** A crash loses what was written since the last part; each part costs a sync and a row. */
const partRows = 50_000;
const partMs = 3_000;

/** Bounds memory: an export needs only a few megabytes at a time. */
const maxGarbageBytes = 32 * 2 ** 20;

export type ExportAttemptParts = DatasetParts & { readonly db: Db; readonly storage: Storage };

/** The export was cancelled or started by another attempt, or some of its data was erased. */
export class OvertakenExportError extends Error {
  override readonly name = 'OvertakenError';

  constructor() {
    super(
      'data of the export was erased, or the export was cancelled or restarted: this attempt starts over',
    );
  }
}

export type MadeFile = { readonly rowCount: number; readonly sizeBytes: number };

/**
 * Writes the file of an export, resuming where the previous attempt stopped.
 *
 * @param stored is called for every object that the attempt has stored
 * @throws OvertakenError
 */
export async function makeExportFile(
  parts: ExportAttemptParts,
  { file, row, done }: { file: ExportFile; row: ExportRow; done: readonly ExportPart[] },
  stored: (keys: readonly string[]) => void,
  signal: AbortSignal,
): Promise<MadeFile> {
  const { db, storage } = parts;
  const dataset = datasetReaders[row.dataset];
  const range = toRange(file.organizationId as OrganizationId, {
    startDay: row.start_day,
    endDay: row.end_day,
    timeZone: row.time_zone,
    filter: row.filter,
  });
  const last = done.at(-1);
  let { number, rowCount } = last ?? { number: 0, rowCount: 0 };
  let sizeBytes = sumOf(row.pieces);
  const states = done.map(({ writer }) => writer);
  const writer = createWriter(dataset.columns, row, { states, sizeBytes });
  await using bytes = openExportPieces(storage, file, row.pieces);
  const put = async (chunks: readonly Uint8Array[]) => {
    for (const chunk of chunks) {
      if (chunk.length > 0) await bytes.write(chunk);
      sizeBytes += chunk.length;
    }
  };
  const flush = async (isLast: boolean) => {
    const pieces = await bytes.flush(isLast);
    stored(pieces.map(({ key }) => key));
    return pieces;
  };
  const garbage = new GarbageLimit(maxGarbageBytes);
  let saved = { rowCount, at: performance.now(), pieces: row.pieces as readonly Piece[] };
  for await (const { rows, next, share } of dataset.read(
    parts,
    range,
    last?.reader ?? null,
    signal,
  )) {
    signal.throwIfAborted();
    await put(await writer.write(rows));
    rowCount += rows.length;
    garbage.check();
    const isDue = performance.now() - saved.at >= partMs;
    if (next === null || (!isDue && rowCount - saved.rowCount < partRows)) continue;
    await requireRoom(storage, sizeBytes);
    await put(await writer.flush());
    const pieces = await flush(false);
    number += 1;
    const part = { number, rowCount, reader: next, writer: writer.save() };
    const { revision } = row;
    const isOurs = await saveExportPart(db, file, { ...part, revision, progress: share, pieces });
    if (!isOurs) throw new OvertakenExportError();
    saved = { rowCount, at: performance.now(), pieces };
  }
  await put(await writer.end());
  const pieces = await flush(true);
  await completeExportFile(storage, file, pieces, signal);
  // The next attempt needs only the objects of finished parts.
  const named = new Set(saved.pieces.map(({ key }) => key));
  const keys = pieces.map(({ key }) => key);
  await removeExportPieces(
    storage,
    keys.filter((key) => !named.has(key)),
  );
  return { rowCount, sizeBytes };
}

function sumOf(pieces: readonly Piece[]): number {
  return pieces.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
}
