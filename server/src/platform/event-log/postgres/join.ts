/**
 * Joining old blocks, so that a log of many small blocks does not stay one. The blocks of each minute
 * become one block for each organization, or a few large ones.
 *
 *   …joined │ a1 b1 a2 c1 a3 b2 │ a4 …      →      …joined  A B C │ a4 …
 *                    a range                          at its end
 *
 * 1. A range holds whole transactions, all of which have ended. It is joined in one transaction: a kill
 *    leaves it as it was, and every statement of a reader sees it before or after.
 * 2. The joined blocks of a range lie at its end: they carry its last transaction as `written_by`. Every
 *    block of the range moves there, also one that has nothing to be joined with.
 * 3. A joined block remembers its members, and readers get these, as they were appended. So a position
 *    stays valid wherever it is: of each joined block that the reader has not come to, the members behind
 *    the place where it was when it came to the range are unread (`Place.membersAfter`).
 * 4. Rewriting and joining exclude each other by a lock. A process of the version before, which does not
 *    know the lock, is noticed by the block's revision.
 * 5. Members of one block are of one UTC day, whose partition expires as a whole.
 */
import { isContention } from '../../database/database-errors.ts';
import { inTransaction, type Tx } from '../../database/database.ts';
import { sleep } from '../../lifecycle.ts';
import { dayMs } from '../../time.ts';
import { blockText, decodeBlock, encodeBlockText } from '../block-codec.ts';
import type { BlockStream } from '../block-stream.ts';
import {
  databaseNow,
  replaceGroups,
  saveJoinedTo,
  selectBytes,
  selectOldBlocks,
  type BlockBytes,
  type JoinedGroup,
  type OldBlock,
} from './join-queries.ts';
import { lockForJoining } from './rewrite-queries.ts';
import { fetchBytes, type LogSource } from './source.ts';
import { addGarbage } from './stream-queries.ts';

const rangeMs = 60_000;
/** Followers have read younger blocks a moment ago, out of memory where they can. */
const defaultMinAgeMs = 10 * 60_000;
const maxRangeBlocks = 5_000;
const maxRangeBytes = 16 * 1024 * 1024;
/** As many events as a flush of the intake has at most. */
const maxJoinedEvents = 4_000;
/** The share of the time that joining takes while there is much to join. */
const duty = 0.25;

/**
 * Joins what is old enough, until there is nothing more or the signal aborts.
 *
 * @param minAgeMs how long ago a minute must have ended
 */
export async function joinOldBlocks(
  { db, stream }: Omit<LogSource<unknown>, 'recent'>,
  signal: AbortSignal,
  minAgeMs = defaultMinAgeMs,
): Promise<void> {
  while (!signal.aborted) {
    const startedAt = performance.now();
    try {
      if (!(await inTransaction(db, (tx) => joinRange(tx, stream, minAgeMs)))) return;
    } catch (error) {
      // Somebody rewrites blocks; the next run continues.
      if (isContention(error)) return;
      throw error;
    }
    const restMs = (performance.now() - startedAt) * (1 / duty - 1);
    await sleep(restMs, signal);
  }
}

/** Joins the next range. @returns false when there is none that is old enough */
async function joinRange(tx: Tx, stream: BlockStream | null, minAgeMs: number): Promise<boolean> {
  await lockForJoining(tx);
  const blocks = cutRange(
    await selectOldBlocks(tx, maxRangeBlocks),
    await databaseNow(tx),
    minAgeMs,
  );
  const last = blocks.at(-1);
  if (last === undefined) return false;
  const groups = await joinGroups(tx, stream, groupBlocks(blocks));
  if (groups.length < blocks.length) await replaceGroups(tx, groups, last.writtenBy);
  await saveJoinedTo(tx, last.writtenBy);
  return true;
}

/** The blocks of the first minute, as whole transactions; none while it is too young. */
function cutRange(blocks: readonly OldBlock[], nowMs: number, minAgeMs: number): OldBlock[] {
  const [first] = blocks;
  if (first === undefined || first.receivedAtMs + rangeMs + minAgeMs > nowMs) return [];
  let end = 0;
  let sizeBytes = 0;
  for (const [index, block] of blocks.entries()) {
    sizeBytes += block.sizeBytes;
    const isNew = block.writtenBy !== blocks[index - 1]?.writtenBy;
    if (isNew) end = index;
    const isFull = sizeBytes > maxRangeBytes || block.receivedAtMs >= first.receivedAtMs + rangeMs;
    if (isNew && index > 0 && isFull) return blocks.slice(0, end);
  }
  // The last transaction may go on behind the last block that was read.
  return blocks.slice(0, blocks.length < maxRangeBlocks || end === 0 ? blocks.length : end);
}

/** The blocks of each organization and day, in their order. */
function groupBlocks(blocks: readonly OldBlock[]): OldBlock[][] {
  return [...Map.groupBy(blocks, ({ organizationId, day }) => `${organizationId} ${day}`).values()];
}

/** Joins the blocks of each group, as far as they are small and can be read. */
async function joinGroups(
  tx: Tx,
  stream: BlockStream | null,
  groups: readonly OldBlock[][],
): Promise<JoinedGroup[]> {
  const toRead = groups.filter(({ length }) => length > 1).flat();
  const bytes = toRead.length === 0 ? [] : await selectBytes(tx, toRead);
  if (bytes.length !== toRead.length) throw new Error('A block has gone since it was read.');
  await fetchBytes(stream, bytes);
  const texts = new Map(toRead.map((block, index) => [block, innerText(bytes[index])]));
  const joined: JoinedGroup[] = [];
  for (const group of groups) {
    for (const blocks of cutGroup(group, texts)) {
      const text = blocks.map((block) => texts.get(block)).join(',');
      joined.push({
        blocks,
        bytes: blocks.length === 1 ? null : await encodeBlockText(`[${text}]`),
        place: null,
      });
    }
  }
  const replaced = new Set(
    joined.filter((group) => group.bytes !== null).flatMap((group) => group.blocks),
  );
  const garbage = toRead.flatMap((block, index) =>
    replaced.has(block) ? (bytes[index]?.place?.sequence ?? []) : [],
  );
  await addGarbage(tx, garbage);
  return stream === null ? joined : storeGroups(stream, joined);
}

/** Puts the bytes of joined blocks into the stream. */
async function storeGroups(
  stream: BlockStream,
  groups: readonly JoinedGroup[],
): Promise<JoinedGroup[]> {
  const fresh = groups.flatMap(({ blocks: [first], bytes }) =>
    first === undefined || bytes === null
      ? []
      : [{ organizationId: first.organizationId, dayMs: first.day * dayMs, bytes }],
  );
  const places = await stream.store(fresh);
  let next = 0;
  return groups.map((group) => {
    if (group.bytes === null) return group;
    const place = places[next++] ?? null;
    return place === null ? group : { ...group, bytes: Buffer.alloc(0), place };
  });
}

/** Cuts a group where a block would get too large. A damaged block stays by itself. */
function cutGroup(
  group: readonly OldBlock[],
  texts: ReadonlyMap<OldBlock, string | null>,
): OldBlock[][] {
  const parts: OldBlock[][] = [];
  let events = Infinity;
  for (const block of group) {
    const isDamaged = group.length > 1 && texts.get(block) === null;
    events += isDamaged ? Infinity : block.eventCount;
    if (events > maxJoinedEvents) {
      parts.push([block]);
      events = isDamaged ? Infinity : block.eventCount;
    } else parts.at(-1)?.push(block);
  }
  return parts;
}

/** The events of a block as JSON, separated by commas, without duplicates; null for a damaged one. */
function innerText(block: BlockBytes | undefined): string | null {
  if (block === undefined) return null;
  try {
    const { events, duplicates } = block;
    const text =
      duplicates.length === 0
        ? blockText(events)
        : JSON.stringify(decodeBlock<unknown>(events, duplicates));
    return text.startsWith('[{') && text.endsWith('}]') ? text.slice(1, -1) : null;
  } catch {
    return null;
  }
}
