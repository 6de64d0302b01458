import { createHash } from 'node:crypto';
import type { KeysetPosition } from '../database/keyset.ts';
import type { OrganizationId } from '../values/ids.ts';
import type { Signer } from '../secrets/signing-keys.ts';
import { ApiError } from './errors.ts';

/** A cursor is only valid for one route, organization and filter. */
export type CursorScope = {
  list: string;
  organizationId: OrganizationId;
  filter: Record<string, unknown> | null;
};

/** The start of the next page, and the total that was counted for the first page. */
export type CursorPosition = { after: readonly (string | number)[]; total: number };

export type ListCursors = {
  encode(scope: CursorScope, position: CursorPosition): string;
  /** @throws ApiError INVALID_CURSOR */
  decode(scope: CursorScope, cursor: string): CursorPosition;
};

const version = 1;
const signatureBytes = 12;

/** Opaque keyset cursors: version, signature over scope and position, position. */
export function createListCursors(signer: Signer): ListCursors {
  const signed = (scope: CursorScope, position: string) =>
    createHash('sha256')
      .update(JSON.stringify([version, scope.list, scope.organizationId, inOrder(scope.filter)]))
      .update(position)
      .digest();
  return {
    encode(scope, position) {
      const text = JSON.stringify([position.total, ...position.after]);
      const signature = signer.sign(signed(scope, text), signatureBytes);
      return Buffer.concat([Buffer.of(version), signature, Buffer.from(text)]).toString(
        'base64url',
      );
    },
    decode(scope, cursor) {
      const bytes = Buffer.from(cursor, 'base64url');
      const signature = bytes.subarray(1, 1 + signatureBytes);
      const text = bytes.subarray(1 + signatureBytes).toString('utf8');
      const intact =
        bytes[0] === version &&
        signature.length === signatureBytes &&
        signer.verify(signed(scope, text), signature);
      if (!intact) throw new ApiError('INVALID_CURSOR');
      const [total, ...after] = JSON.parse(text) as [number, ...(string | number)[]];
      return { total, after };
    },
  };
}

/** Makes a filter independent of the order of the parameters in a query string. */
function inOrder(filter: CursorScope['filter']): unknown {
  return filter && Object.entries(filter).toSorted(([a], [b]) => (a < b ? -1 : 1));
}

export type PageQuery = { limit?: number; cursor?: string };

/** How to read a list: `read` returns at most `limit` rows after `after`. */
export type PageSource<Row, Item> = {
  count(): Promise<number>;
  read(limit: number, after: CursorPosition['after'] | null): Promise<Row[]>;
  position: (row: Row) => readonly (string | number)[];
  present: (row: Row) => Item;
};

/** The position in a list ordered by time and id; see `isBehind`. */
export function momentAndId(after: CursorPosition['after'] | null): KeysetPosition | null {
  return after && { at: String(after[0]), id: String(after[1]) };
}

/**
 * Reads one page of a keyset list and builds the response: items, total, and the cursor of the next
 * page.
 */
export async function readPage<Row, Item>(
  cursors: ListCursors,
  scope: CursorScope,
  query: PageQuery,
  source: PageSource<Row, Item>,
): Promise<{ data: Item[]; meta: { total: number; nextCursor: string | null } }> {
  const limit = query.limit ?? 20;
  const position = query.cursor === undefined ? null : cursors.decode(scope, query.cursor);
  const [rows, total] = await Promise.all([
    // One extra row shows whether there is a next page.
    source.read(limit + 1, position?.after ?? null),
    position?.total ?? source.count(),
  ]);
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const nextCursor =
    rows.length > limit && last !== undefined
      ? cursors.encode(scope, { total, after: source.position(last) })
      : null;
  return { data: page.map(source.present), meta: { total, nextCursor } };
}
