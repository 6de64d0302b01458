/**
 * Removes erased viewers and deleted items from facts. The facts themselves stay, because they
 * record what was watched.
 */
import { inTransaction, type Db, type Tx } from '../../../platform/database/database.ts';
import type { DeletedItem, Viewer } from '../../../platform/feature/feature.ts';
import { partitionOf } from '../../../platform/projections/partitions.ts';
import { lockProjections } from '../../../platform/projections/queries.ts';
import { isFixed, noItem, otherLabel } from '../../events/events.ts';
import { earlierLabel } from '../projections/engagement/label.ts';
import { hashText, memberOf, type Hash } from '../statistics/viewer-key.ts';
import { erasedKeys } from '../statistics/viewer-keys.ts';
import { decodeFacts, encodeFacts } from './codec.ts';
import { contentKey, factColumn, type Facts } from './facts.ts';
import { mergeFacts } from './merge.ts';
import { forgetNames, labelFields } from './names.ts';
import { replaceFactChunk, selectFactChunks, type ReadFactChunk } from './queries.ts';

const chunksAtOnce = 50;
const always = { startMs: Date.UTC(1970, 0), endMs: Date.UTC(9999, 0) };

type Page = { readonly last: ReadFactChunk | null; readonly isLast: boolean };
/** Returns the facts to store, or null to leave them unchanged. */
type Edit = (facts: Facts) => Facts | null;

/**
 * Removes a viewer: as the member of a fact, and as a label, because an earlier version accepted
 * any text as a label.
 *
 * @returns the number of fact rows that named the viewer
 */
export async function forgetViewerInFacts(tx: Tx, viewer: Viewer): Promise<number> {
  const { organizationId, userId } = viewer;
  const keys = await erasedKeys(tx, viewer);
  const members = new Set(keys.map((key) => memberOf(key.toString('latin1'))));
  const isFixedLabel = labelFields.some((field) => isFixed(field, userId));
  const label = isFixedLabel ? null : hashText(earlierLabel(userId));
  let removed = await forgetNames(tx, viewer, isFixedLabel);
  for (let after: ReadFactChunk | null = null; ;) {
    const page = await rewritePage(tx, organizationId, after, (facts) => {
      const rows = forgetMembers(facts, members);
      removed += rows;
      const renamed = label === null ? null : renameLabel(facts, label);
      return renamed ?? (rows > 0 ? facts : null);
    });
    if (page.isLast) return removed;
    after = page.last;
  }
}

/**
 * Reassigns the facts of deleted items to no item. Each transaction handles some chunks, under the
 * lock of the projection that writes them. Call it once the projection no longer writes facts for
 * the items.
 */
export async function forgetItemsInFacts(
  db: Db,
  items: readonly DeletedItem[],
  signal: AbortSignal,
): Promise<void> {
  for (const [organizationId, own] of Map.groupBy(items, (item) => item.organizationId)) {
    const gone = new Set(own.map(({ contentId }) => contentKey(contentId)));
    const partitions = [partitionOf(organizationId)];
    for (let after: ReadFactChunk | null = null; ;) {
      signal.throwIfAborted();
      const behind: ReadFactChunk | null = after;
      const page: Page = await inTransaction(db, async (tx) => {
        await lockProjections(tx, [{ name: 'engagement', partitions }]);
        return rewritePage(tx, organizationId, behind, (facts) => forgetContents(facts, gone));
      });
      if (page.isLast) break;
      after = page.last;
    }
  }
}

async function rewritePage(
  tx: Tx,
  organizationId: string,
  after: ReadFactChunk | null,
  edit: Edit,
): Promise<Page> {
  const page = { after, limit: chunksAtOnce };
  const chunks = await selectFactChunks(tx, organizationId, always, page);
  for (const chunk of chunks) {
    const facts = edit(decodeFacts(chunk.body));
    if (facts === null) continue;
    const stored = { ...chunk, body: encodeFacts(facts), rows: facts.rows };
    await replaceFactChunk(tx, organizationId, stored);
  }
  return { last: chunks.at(-1) ?? null, isLast: chunks.length < chunksAtOnce };
}

/** Edits the facts in place. @returns the number of changed rows */
function forgetMembers({ columns }: Facts, members: ReadonlySet<number>): number {
  const column = columns[factColumn.member];
  if (column === null || column === undefined) return 0;
  let rows = 0;
  for (let row = 0; row < column.length; row += 1) {
    if (!members.has(column[row] ?? 0)) continue;
    column[row] = 0;
    rows += 1;
  }
  return rows;
}

function renameLabel(facts: Facts, label: Hash): Facts | null {
  if (!facts.labels.includes(label)) return null;
  const other = hashText(otherLabel);
  const labels = facts.labels.map((one) => (one === label ? other : one));
  // Merging deduplicates labels and rows that have become equal.
  return mergeFacts([{ ...facts, labels }]);
}

function forgetContents(facts: Facts, gone: ReadonlySet<string>): Facts | null {
  if (!facts.contents.some((key) => gone.has(key))) return null;
  const contents = facts.contents.map((key) => (gone.has(key) ? contentKey(noItem) : key));
  return mergeFacts([{ ...facts, contents }]);
}
