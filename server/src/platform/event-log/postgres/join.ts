/**
 * Joins old blocks, so that many small blocks become few. The blocks of each minute become one
 * block per organization, or a few large ones.
 *
 *   …joined │ a1 b1 a2 c1 a3 b2 │ a4 …      →      …joined  A B C │ a4 …
 *                    a range                          at its end
 *
 * 1. A range consists of whole transactions, all of which have ended. It is joined in one
 *    transaction: a crash leaves it unchanged, and each statement of a reader sees it either before
 *    or after.
 * 2. The joined blocks are at the end of their range: their `written_by` is its last transaction.
 *    Every block of the range moves there, even one that is not joined with others.
 * 3. A joined block remembers its members, and readers get these as they were appended. Any
 *    position therefore stays valid: of each joined block that the reader has not reached, the
 *    unread members are those after the reader's place when it reached the range
 *    (`Place.membersAfter`).
 * 4. A lock keeps rewriting and joining from running at once. A process of the previous version,
 *    which does not know the lock, is detected by the block's revision.
 * 5. Members of one block are of one UTC day, whose partition expires as a whole.
 */
import { isContention } from '../../database/database-errors.ts';
import { inTransaction, type Tx } from '../../database/database.ts';
import { sleep } from '../../async/lifecycle.ts';
import { dayMs } from '../../values/time.ts';
import { blockText, decodeBlock, encodeBlockText } from '../block-codec.ts';
import type { BlockStream } from '../block-stream.ts';
import {
  databaseNowMs,
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
/** Until then, followers read the blocks from memory if possible. */
const defaultMinAgeMs = 10 * 60_000;
const maxRangeBlocks = 5_000;
const maxRangeBytes = 16 * 1024 * 1024;
/** The maximum number of events in one flush of the intake. */
const maxJoinedEvents = 4_000;
/** The share of time spent on joining while there is a backlog. */
const duty = 0.25;

/**
 * Joins blocks that are old enough until there are no more or the signal aborts.
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
      // Blocks are being rewritten; the next run continues.
      if (isContention(error)) return;
      throw error;
    }
    const restMs = (performance.now() - startedAt) * (1 / duty - 1);
    await sleep(restMs, signal);
  }
}

/** Joins the next range. @returns false if none is old enough */
async function joinRange(tx: Tx, stream: BlockStream | null, minAgeMs: number): Promise<boolean> {
  await lockForJoining(tx);
  const blocks = cutRange(
    await selectOldBlocks(tx, maxRangeBlocks),
    await databaseNowMs(tx),
    minAgeMs,
  );
  const last = blocks.at(-1);
  if (last === undefined) return false;
  const groups = await joinGroups(tx, stream, groupBlocks(blocks));
  if (groups.length < blocks.length) await replaceGroups(tx, groups, last.writtenBy);
  await saveJoinedTo(tx, last.writtenBy);
  return true;
}

/** The blocks of the first minute, as whole transactions; none while it is too recent. */
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
  // The last transaction may have more blocks than were read.
  return blocks.slice(0, blocks.length < maxRangeBlocks || end === 0 ? blocks.length : end);
}

function groupBlocks(blocks: readonly OldBlock[]): OldBlock[][] {
  return [...Map.groupBy(blocks, ({ organizationId, day }) => `${organizationId} ${day}`).values()];
}

/** Joins the blocks of each group if they are small and readable. */
async function joinGroups(
  tx: Tx,
  stream: BlockStream | null,
  groups: readonly OldBlock[][],
): Promise<JoinedGroup[]> {
  const toRead = groups.filter(({ length }) => length > 1).flat();
  const bytes = toRead.length === 0 ? [] : await selectBytes(tx, toRead);
  if (bytes.length !== toRead.length)
    throw new Error('A block has been deleted since it was read.');
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

/** Splits a group wherever a block would become too large. A damaged block is kept separate. */
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

/**
 * The events of a block as comma-separated JSON, without duplicates; null if the block is damaged.
 */
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
