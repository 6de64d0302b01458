/** Bulk operations and their API calls. */
import { api } from '../../api.ts';
import type { Item } from '../../data.ts';
import { whole } from '../../format.ts';

export type Failure = { id: string; error: { message: string } };
type Outcome = { done: number; failed: readonly Failure[] };
export type Operation = 'tag' | 'visibility' | 'update' | 'archive' | 'restore' | 'delete';

/** Labels of the operations. */
export const operations: Record<Operation, string> = {
  tag: 'Tag',
  visibility: 'Visibility',
  update: 'Update',
  archive: 'Archive',
  restore: 'Restore',
  delete: 'Delete',
};

/** The operations for these items: archived ones can only be restored or deleted. */
export function operationsFor(items: readonly Item[]): Operation[] {
  const archived = items.filter(({ archivedAt }) => archivedAt !== null).length;
  const present: Operation[] = ['tag', 'visibility', 'update', 'archive'];
  return [
    ...(archived < items.length ? present : []),
    ...(archived > 0 ? (['restore'] as const) : []),
    'delete',
  ];
}

/** `1 item`, `2 items`. */
export const countOf = (count: number): string =>
  `${whole(count)} ${count === 1 ? 'item' : 'items'}`;

/** The fields of all operations. */
export type Draft = {
  addTags: string[];
  removeTags: string[];
  visibility: Item['visibility'];
  section: string;
  author: string;
  publishStatus: Item['publishStatus'] | null;
};

const maxAtOnce = 100;

/** Runs the operation in batches of a hundred items. */
export async function applyToAll(
  operation: Operation,
  ids: readonly string[],
  draft: Draft,
): Promise<Outcome> {
  if (operation === 'archive') {
    return each(ids, (id) => api.delete('/v1/content/{id}', { path: { id } }));
  }
  if (operation === 'restore') {
    return each(ids, (id) => api.post('/v1/content/{id}/restore', { path: { id } }));
  }
  let done = 0;
  const failed: Failure[] = [];
  for (let at = 0; at < ids.length; at += maxAtOnce) {
    const { data } = await applyToSome(operation, ids.slice(at, at + maxAtOnce), draft);
    done += data.totalSuccessful;
    failed.push(...data.failed);
  }
  return { done, failed };
}

function applyToSome(
  operation: Exclude<Operation, 'archive' | 'restore'>,
  ids: string[],
  draft: Draft,
) {
  const { addTags, removeTags, visibility, section, author, publishStatus } = draft;
  switch (operation) {
    case 'tag':
      return api.post('/v1/content/bulk/tag', {
        body: {
          ids,
          ...(addTags.length > 0 && { addTags }),
          ...(removeTags.length > 0 && { removeTags }),
        },
      });
    case 'visibility':
      return api.post('/v1/content/bulk/visibility', { body: { ids, visibility } });
    case 'delete':
      return api.post('/v1/content/bulk/delete', { body: { ids, continueOnError: true } });
    case 'update': {
      const change = {
        ...(section.trim() !== '' && { section: section.trim() }),
        ...(author.trim() !== '' && { author: author.trim() }),
        ...(publishStatus !== null && { publishStatus }),
      };
      const items = ids.map((id) => ({ id, ...change }));
      return api.post('/v1/content/bulk/update', { body: { items, continueOnError: true } });
    }
    default:
      return operation satisfies never;
  }
}

/** Processes items one by one, continuing after failures. */
export async function each(
  ids: readonly string[],
  run: (id: string) => Promise<unknown>,
): Promise<Outcome> {
  const failed: Failure[] = [];
  for (const id of ids) {
    await run(id).catch((error: Error) => failed.push({ id, error: { message: error.message } }));
  }
  return { done: ids.length - failed.length, failed };
}
