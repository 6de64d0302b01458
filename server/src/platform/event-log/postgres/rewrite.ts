/** Rewrites a page of one organization's blocks, for erasures and purges. */
import type { Tx } from '../../database/database.ts';
import { blockText, encodeBlock } from '../block-codec.ts';
import { dayOf, type BlockStream, type StreamPlace } from '../block-stream.ts';
import type { BlockEditor, LogPosition, ReadLimits, RewrittenPage } from '../event-log.ts';
import type { BlockRow } from './block-queries.ts';
import { decodeRow, readRows } from './pages.ts';
import { lockForRewriting, removeBlock, replaceBlock } from './rewrite-queries.ts';
import { addGarbage } from './stream-queries.ts';

export async function rewritePage<Event>(
  tx: Tx,
  stream: BlockStream | null,
  from: LogPosition,
  limits: ReadLimits & { readonly organizationId: string },
  edit: BlockEditor<Event>,
): Promise<RewrittenPage> {
  await lockForRewriting(tx, limits.organizationId);
  const { rows, next, isLast } = await readRows({ db: tx, stream, recent: null }, from, limits);
  let eventsRemoved = 0;
  for (const row of rows) {
    const parts = editRow(row, edit);
    if (parts === null) continue;
    const kept = parts.flat();
    const memberCounts = row.members === null ? null : parts.map(({ length }) => length);
    // Duplicates, which readers skip, are removed permanently.
    if (kept.length === 0) await removeBlock(tx, row);
    else {
      const encoded = await encodeBlock(kept);
      const { bytes, place } = await storeBytes(stream, row, encoded);
      await replaceBlock(tx, row, { bytes, place, eventCount: kept.length, memberCounts });
    }
    if (row.place !== null) await addGarbage(tx, [row.place.sequence]);
    eventsRemoved += row.eventCount - kept.length;
  }
  return { next, isLast, blocksRead: rows.length, eventsRemoved };
}

async function storeBytes(
  stream: BlockStream | null,
  { organizationId, receivedAtMs }: BlockRow,
  bytes: Buffer,
): Promise<{ bytes: Buffer; place: StreamPlace | null }> {
  const block = { organizationId, dayMs: dayOf(receivedAtMs), bytes };
  const [place = null] = stream === null ? [] : await stream.store([block]);
  return { bytes: place === null ? bytes : Buffer.alloc(0), place };
}

/**
 * Edits a block, or all members of a joined one, including those that the position has passed.
 *
 * @returns the remaining events of each member, or a single list for a block that was not joined;
 * null for no change
 */
function editRow<Event>(row: BlockRow, edit: BlockEditor<Event>): (readonly Event[])[] | null {
  const events = () => decodeRow<Event>(row);
  const whole = edit({ text: () => blockText(row.events ?? Buffer.alloc(0)), events });
  if (whole === null) return null;
  if (row.members === null || row.members.length === 1) return [whole];
  let from = 0;
  const all = events();
  return row.members.map(({ eventCount }) => {
    const part = all.slice(from, from + eventCount);
    from += eventCount;
    return edit({ text: () => JSON.stringify(part), events: () => part }) ?? part;
  });
}
