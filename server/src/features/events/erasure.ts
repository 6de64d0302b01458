/**
 * Erasing one viewer, by user id.
 *
 *   (asked for) → pending → complete
 *                   │  ▲
 *                   │  └── asked for again: it begins anew
 *                   └▶ failed (asking again starts it again)
 *
 * 1. It covers every event that was acknowledged before it was asked for. What comes later is new
 *    data: nobody can know whether the viewer came back.
 * 2. First the log is rewritten, then every feature removes what it has made of the events. So no
 *    projection, and no rebuild of one, finds them again.
 * 3. The log is read again at the end; the erasure is complete only when no event is left in it.
 * 4. Keys stay in the ledger, so a copy of an erased event that arrives late is not stored again.
 * 5. A kill repeats at most one page. One page is in memory at a time.
 * 6. Nothing keeps the user id when it has ended, only a hash that finds its state.
 */
import { createHash } from 'node:crypto';
import { Type } from 'typebox';
import { inTransaction, type Db, type Tx } from '../../platform/database/database.ts';
import { defineJob, doublingDelay } from '../../platform/queue/job-definition.ts';
import { done, handle, skipped, type HandledJob } from '../../platform/queue/job-handler.ts';
import { enqueue } from '../../platform/queue/queue.ts';
import { blockText, decodeBlock, encodeBlock } from './block-codec.ts';
import {
  endErasure,
  lockErasure,
  removeBlock,
  requestErasure,
  rewriteBlock,
  saveProgress,
  type ErasureKey,
  type ErasurePosition,
  type ErasureRow,
} from './erasure-queries.ts';
import { endOfLog, readRows, startOfLog, upTo } from './log.ts';
import type { BlockRow } from './log-queries.ts';

export type Viewer = { readonly organizationId: string; readonly userId: string };

/** Removes what a feature has made of a viewer's events. It must bear being run again. */
export type ErasureStep = (viewer: Viewer, signal: AbortSignal) => Promise<void>;

export const eraseViewerJob = defineJob({
  name: 'erase-viewer',
  payload: Type.Object({ userId: Type.String() }),
  timeoutMs: 12 * 3_600_000,
  retry: { maxAttempts: 10, delayMs: doublingDelay(1_000, 10 * 60_000) },
  concurrency: 1,
  onExhausted: async (tx, { userId }, { organizationId }) => {
    const key = erasureKey({ organizationId, userId });
    if ((await lockErasure(tx, key)) !== null) await endErasure(tx, key, 'failed');
  },
});

const pageLimits = { limitBlocks: 100, limitEvents: 20_000, known: [] };

export function erasureKey({ organizationId, userId }: Viewer): ErasureKey {
  const userHash = createHash('sha256').update(`${organizationId}\0${userId}`).digest();
  return { organizationId, userHash };
}

/** Asks for an erasure; call `wakeups.nudge(eraseViewerJob.name)` after the commit. */
export async function askForErasure(tx: Tx, viewer: Viewer): Promise<ErasureRow> {
  const key = erasureKey(viewer);
  const erasure = await requestErasure(tx, key);
  const { organizationId, userId } = viewer;
  const uniqueKey = key.userHash.toString('hex');
  await enqueue(tx, eraseViewerJob, { userId }, { organizationId, uniqueKey });
  return erasure;
}

export function erasureHandler(parts: { db: Db; steps: readonly ErasureStep[] }): HandledJob {
  const { db, steps } = parts;
  return handle(eraseViewerJob, async ({ userId }, context) => {
    const { organizationId, signal } = context;
    const viewer = { organizationId, userId };
    const key = erasureKey(viewer);
    const position = await eraseFromLog(db, viewer, signal);
    if (position === null) return skipped('the erasure is not pending');
    for (const step of steps) await step(viewer, signal);
    const left = await countLeft(db, viewer, position, signal);
    if (left > 0) throw new Error(`${left} events of an erased viewer are still in the log`);
    await context.finish(async (tx) => {
      const erasure = await lockErasure(tx, key);
      if (erasure === null) return;
      // Asked for again meanwhile: the next attempt begins anew.
      if (erasure.position === null) throw new Error('the erasure was asked for again');
      await endErasure(tx, key, 'complete');
    });
    return done;
  });
}

/**
 * Rewrites the blocks that hold events of the viewer.
 *
 * @returns what it went through, or null when there is no pending erasure of the viewer
 */
export async function eraseFromLog(
  db: Db,
  viewer: Viewer,
  signal: AbortSignal,
): Promise<ErasurePosition | null> {
  for (;;) {
    signal.throwIfAborted();
    const position = await inTransaction(db, (tx) => erasePage(tx, viewer));
    if (position === null || position.at.target === null) return position;
  }
}

/** Does the next page, in one transaction with its progress. */
async function erasePage(tx: Tx, viewer: Viewer): Promise<ErasurePosition | null> {
  const key = erasureKey(viewer);
  const erasure = await lockErasure(tx, key);
  if (erasure === null) return null;
  const position = erasure.position ?? (await begin(tx));
  if (position.at.target === null) return position;
  const { organizationId } = viewer;
  const { rows, next } = await readRows(tx, position.at, { ...pageLimits, organizationId });
  let eventsRemoved = 0;
  for (const row of rows) eventsRemoved += await eraseFromBlock(tx, row, viewer.userId);
  const after = { at: next, end: position.end };
  await saveProgress(tx, key, { position: after, blocksRead: rows.length, eventsRemoved });
  return after;
}

async function begin(tx: Tx): Promise<ErasurePosition> {
  const end = await endOfLog(tx);
  return { at: upTo(startOfLog, end), end };
}

/** @returns how many events were removed */
async function eraseFromBlock(tx: Tx, row: BlockRow, userId: string): Promise<number> {
  if (row.events === null || !mentions(row, userId)) return 0;
  const events = decodeBlock(row.events, row.duplicates);
  const kept = events.filter((event) => event.userId !== userId);
  // Also where none is removed: copies that are left out, being duplicates, go as well.
  if (kept.length === 0) await removeBlock(tx, row);
  else await rewriteBlock(tx, row, { bytes: await encodeBlock(kept), eventCount: kept.length });
  return events.length - kept.length;
}

/** Whether the text of a block holds the id; parsing the others would take most of the time. */
function mentions({ events }: BlockRow, userId: string): boolean {
  return events !== null && blockText(events).includes(`"userId":${JSON.stringify(userId)}`);
}

/** Events of the viewer that are still in the part of the log that an erasure went through. */
async function countLeft(
  db: Db,
  { organizationId, userId }: Viewer,
  { end }: ErasurePosition,
  signal: AbortSignal,
): Promise<number> {
  let left = 0;
  for (let at = upTo(startOfLog, end); at.target !== null;) {
    signal.throwIfAborted();
    const { rows, next } = await readRows(db, at, { ...pageLimits, organizationId });
    left += rows.filter((row) => mentions(row, userId)).length;
    at = next;
  }
  return left;
}
