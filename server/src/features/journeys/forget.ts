/** Removes erased viewers and deleted items from chunks. */
import type { Tx } from '../../platform/database/database.ts';
import type { ProjectedItem, Viewer } from '../../platform/projections/projection.ts';
import { erasedKeys, memberOf } from '../analytics/analytics.ts';
import {
  erasedId,
  erasureKey,
  forgetUser,
  noItem,
  replacementEventId,
  isFixed,
  type LoggedEvent,
} from '../events/events.ts';
import { filterChunk, itemKey, type FullChunk } from './chunk.ts';
import { decodeFullChunk, encodeChunk, encodeProperties } from './codec.ts';
import {
  partsOfName,
  propertiesOf,
  propertyColumn,
  type Properties,
  type Scalar,
} from './properties.ts';
import { replaceJourneyChunk, selectJourneyChunks, type ReadJourneyChunk } from './queries.ts';

const chunksAtOnce = 50;
const always = { startMs: Date.UTC(1970, 0), endMs: Date.UTC(9999, 0) };

/** Returns the chunk to store, or null to leave it unchanged. */
type Edit = (chunk: FullChunk) => FullChunk | null;

/** Removes the viewer's events, and the viewer's id from events of others. */
export async function forgetViewer(tx: Tx, viewer: Viewer): Promise<number> {
  const { organizationId, userId } = viewer;
  const keys = await erasedKeys(tx, viewer);
  const members = new Set(keys.map((key) => memberOf(key.toString('latin1'))));
  const id = erasedId(userId, replacementEventId(await erasureKey(tx, viewer)));
  let removed = 0;
  await rewrite(tx, organizationId, (chunk) => {
    const { member } = chunk.columns;
    const kept = filterChunk(chunk, (row) => !members.has(member[row] ?? 0));
    removed += chunk.rows - kept.rows;
    const versions = isFixed('appVersion', userId)
      ? kept.versions
      : kept.versions.map((version) => (version === userId ? id.placeholder : version));
    const properties = forgetInProperties(kept.properties, (event) => forgetUser(event, id));
    const isSame = kept.rows === chunk.rows && properties === kept.properties;
    if (isSame && !chunk.versions.includes(userId)) return null;
    return { ...kept, versions, properties };
  });
  return removed;
}

/**
 * Events of deleted items stay as events without an item, because they still show viewer activity.
 */
export async function forgetJourneyItems(tx: Tx, items: readonly ProjectedItem[]): Promise<void> {
  for (const [organizationId, own] of Map.groupBy(items, (item) => item.organizationId)) {
    const gone = new Set(own.map(({ contentId }) => itemKey(contentId)));
    await rewrite(tx, organizationId, (chunk) => {
      if (!chunk.items.some((key) => gone.has(key))) return null;
      return { ...chunk, items: chunk.items.map((key) => (gone.has(key) ? itemKey(noItem) : key)) };
    });
  }
}

async function rewrite(tx: Tx, organizationId: string, edit: Edit): Promise<void> {
  for (let after: ReadJourneyChunk | null = null; ;) {
    const page = { after, limit: chunksAtOnce, withProperties: true };
    const chunks: ReadJourneyChunk[] = await selectJourneyChunks(tx, organizationId, always, page);
    for (const chunk of chunks) {
      const edited = edit(decodeFullChunk(chunk));
      if (edited === null) continue;
      await replaceJourneyChunk(tx, organizationId, {
        ...chunk,
        rows: edited.rows,
        body: encodeChunk(edited),
        properties: encodeProperties(edited.properties),
      });
    }
    const last = chunks.at(-1);
    if (last === undefined || chunks.length < chunksAtOnce) return;
    after = last;
  }
}

/**
 * Applies the same rules as the log, so that a rebuild gives the same result. Returns the same
 * object if nothing changes.
 */
function forgetInProperties(
  properties: Properties,
  forget: (event: LoggedEvent) => LoggedEvent | null,
): Properties {
  const found: Properties = new Map();
  let isChanged = false;
  for (const [name, { rows, values }] of properties) {
    const { kind, key } = partsOfName(name);
    const known = new Map<Scalar, [name: string, value: Scalar]>();
    for (const [index, row] of rows.entries()) {
      const value = values[index] ?? false;
      let after = known.get(value);
      if (after === undefined) {
        const event = {
          eventId: '',
          event: kind,
          contentId: noItem,
          at: 0,
          data: { [key]: value },
        };
        const left = forget(event as LoggedEvent);
        after = (left === null ? undefined : propertiesOf(left)[0]) ?? [name, value];
        known.set(value, after);
      }
      isChanged ||= after[0] !== name || after[1] !== value;
      const column = propertyColumn(found, after[0]);
      column.rows.push(row);
      column.values.push(after[1]);
    }
  }
  return isChanged ? found : properties;
}
