/**
 * Records of erasures beside the database, in the media storage, so that a restore of an older backup
 * can repeat them. A record holds no id of a viewer but the hash by which `erasure` knows it, keyed with
 * a secret of the organization that is in the database and its backups alone. So a record tells nothing
 * by itself, and beside a backup it can only be compared with the ids which that backup holds anyway.
 */
import { text } from 'node:stream/consumers';
import { Type, type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { Readable } from 'node:stream';
import type { Storage } from '../../../platform/storage/storage.ts';

const Record = Type.Object({
  organizationId: Type.String(),
  /** In hexadecimal. */
  userHash: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  requestedAt: Type.String({ format: 'date-time' }),
});
const validator = Compile(Record);

export type ErasureRecord = Static<typeof Record>;

const prefix = 'erasures';

/** Stores a record; a later one of the same viewer takes its place. */
export async function storeErasureRecord(
  storage: Pick<Storage, 'put'>,
  record: ErasureRecord,
  signal?: AbortSignal,
): Promise<void> {
  const { organizationId, userHash } = record;
  const bytes = Readable.from([Buffer.from(formatErasureRecord(record))]);
  await storage.put(`${prefix}/${organizationId}/${userHash}`, bytes, signal);
}

/** Every record in the storage. */
export async function* readErasureRecords(
  storage: Pick<Storage, 'list' | 'read'>,
): AsyncGenerator<ErasureRecord> {
  for await (const { key } of storage.list(prefix)) {
    const read = await storage.read(key);
    if (read !== null) yield parseErasureRecord(await text(read.stream));
  }
}

/** One line of JSON. */
export function formatErasureRecord(record: ErasureRecord): string {
  return `${JSON.stringify(record)}\n`;
}

/** @throws Error when the line is no record */
export function parseErasureRecord(line: string): ErasureRecord {
  const record: unknown = JSON.parse(line);
  if (!validator.Check(record)) throw new Error('It is not the record of an erasure.');
  return record;
}
