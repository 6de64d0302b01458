/**
 * The bytes of events that are kept in a stream, as a file of the backup. A restored log holds them
 * in the database, no matter which stream it writes to afterwards.
 */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Client } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import type { BlockStream, StreamPlace } from '../event-log/block-stream.ts';
import { keepGarbage } from '../event-log/postgres/stream-queries.ts';
import type { FileEntry, Repository } from './repository.ts';

const pageBlocks = 500;

/**
 * Keeps messages released by blocks until the session ends, because the snapshot still refers to
 * them.
 */
export async function holdMessages(client: Client): Promise<void> {
  await client.query(keepGarbage);
}

/**
 * Writes the bytes of the blocks in the client's snapshot.
 *
 * @returns null if there are none
 */
export async function dumpEventBytes(
  client: Client,
  repository: Repository,
  prefix: string,
  stream: BlockStream | null,
): Promise<FileEntry | null> {
  const { rowCount } = await client.query(
    'select from event_block where stream_sequence is not null limit 1',
  );
  if (rowCount === 0) return null;
  if (stream === null) {
    throw new Error(
      'The log has blocks in a stream: set REELFEED_EVENT_LOG as it was when they were stored.',
    );
  }
  const rows = Readable.from(copyRows(client, stream));
  return repository.put(`${prefix}/database/event-bytes.copy.zst`, rows, { compress: true });
}

/** `(sequence, bytes)` in the binary format of PostgreSQL's `copy`. */
async function* copyRows(client: Client, stream: BlockStream): AsyncGenerator<Buffer> {
  yield Buffer.from('PGCOPY\n\u00ff\r\n\0\0\0\0\0\0\0\0\0', 'latin1');
  for (let after = 0; ;) {
    const places = await selectPlaces(client, after);
    const bytes = await stream.fetch(places);
    for (const [index, { sequence }] of places.entries()) {
      const block = bytes[index];
      if (block === undefined || block === null) {
        throw new Error(`The message ${sequence} is missing from the stream.`);
      }
      const head = Buffer.alloc(18);
      head.writeInt16BE(2, 0);
      head.writeInt32BE(8, 2);
      head.writeBigInt64BE(BigInt(sequence), 6);
      head.writeInt32BE(block.length, 14);
      yield Buffer.concat([head, block]);
    }
    const last = places.at(-1);
    if (last === undefined) break;
    after = last.sequence;
  }
  yield Buffer.from([0xff, 0xff]);
}

async function selectPlaces(client: Client, after: number): Promise<StreamPlace[]> {
  const { rows } = await client.query<{ sequence: string; id: string; size: number }>(
    `select stream_sequence::text as sequence, stream_message::text as id, stream_bytes as size
     from event_block where stream_sequence > $1 order by stream_sequence limit ${pageBlocks}`,
    [after],
  );
  return rows.map(({ sequence, id, size }) => ({
    sequence: Number(sequence),
    messageId: id,
    sizeBytes: size,
  }));
}

/** Writes the bytes into the loaded blocks, within the transaction of the restore. */
export async function loadEventBytes(client: Client, rows: Readable): Promise<void> {
  await client.query(
    'create temporary table event_bytes (sequence bigint primary key, bytes bytea) on commit drop',
  );
  const sink = client.query(copyFrom('copy event_bytes from stdin (format binary)'));
  await pipeline(rows, sink);
  const { rowCount } = await client.query(
    `update event_block set events = event_bytes.bytes,
       stream_sequence = null, stream_message = null, stream_bytes = null
     from event_bytes where stream_sequence = event_bytes.sequence`,
  );
  if (rowCount !== sink.rowCount) {
    throw new Error(`the events of ${rowCount} blocks were restored instead of ${sink.rowCount}`);
  }
  await client.query('delete from event_stream');
  await client.query('delete from event_stream_garbage');
}
