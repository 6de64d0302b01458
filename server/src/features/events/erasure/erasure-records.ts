/**
 * Records of erasures outside the database, in the media storage, so that restoring an older backup
 * can repeat them. A record contains no viewer id, only the hash that identifies the viewer in
 * `erasure`. The hash is keyed with a secret of the organization that exists only in the database
 * and its backups. A record alone therefore reveals nothing, and together with a backup it can only
 * be compared with ids that the backup contains anyway.
 */
import { text } from 'node:stream/consumers';
import { Type, type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { Readable } from 'node:stream';
import type { Storage } from '../../../platform/storage/storage.ts';

const Record = Type.Object({
  organizationId: Type.String(),
  /** Hexadecimal. */
  userHash: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  requestedAt: Type.String({ format: 'date-time' }),
});
const validator = Compile(Record);

export type ErasureRecord = Static<typeof Record>;

const prefix = 'erasures';

/** Stores a record, replacing an earlier one of the same viewer. */
export async function storeErasureRecord(
  storage: Pick<Storage, 'put'>,
  record: ErasureRecord,
  signal?: AbortSignal,
): Promise<void> {
  const { organizationId, userHash } = record;
  const bytes = Readable.from([Buffer.from(formatErasureRecord(record))]);
  await storage.put(`${prefix}/${organizationId}/${userHash}`, bytes, signal);
}

export async function* readErasureRecords(
  storage: Pick<Storage, 'list' | 'read'>,
): AsyncGenerator<ErasureRecord> {
  for await (const { key } of storage.list(prefix)) {
    const read = await storage.read(key);
    if (read !== null) yield parseErasureRecord(await text(read.stream));
  }
}

export function formatErasureRecord(record: ErasureRecord): string {
  return `${JSON.stringify(record)}\n`;
}

/** @throws Error if the line is not a valid record */
export function parseErasureRecord(line: string): ErasureRecord {
  const record: unknown = JSON.parse(line);
  if (!validator.Check(record)) throw new Error('The line is not an erasure record.');
  return record;
}
