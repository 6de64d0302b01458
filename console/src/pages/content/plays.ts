/** Viewer activity on the library's items in the last 30 days. */
import { useQuery } from '@tanstack/react-query';
import { useCallback } from 'react';
import { api } from '../../api.ts';
import type { Answer } from '../../data.ts';

export type Numbers = { plays: number; completionRate: number | null } | null;
/** Returns null if unknown, for items that are not among the most played. */
export type Plays = (id: string) => Numbers;

const maxPages = 5;
const none: Numbers = { plays: 0, completionRate: null };

/** The report has no filter for items, so the most played ones are read and matched by id. */
export function usePlays(): Plays {
  const { data } = useQuery({ queryKey: ['plays'], queryFn: read, staleTime: 60_000 });
  return useCallback(
    (id: string) => data?.byId.get(id) ?? (data?.isComplete === true ? none : null),
    [data],
  );
}

async function read({ signal }: { signal: AbortSignal }) {
  const byId = new Map<string, Numbers>();
  let cursor: string | null = null;
  for (let page = 0; page < maxPages; page += 1) {
    const from: { cursor?: string } = cursor === null ? {} : { cursor };
    const query = { sort: 'plays' as const, limit: 100, ...from };
    const answer: Answer<'get', '/v1/analytics/content'> = await api.get('/v1/analytics/content', {
      query,
      signal,
    });
    const { data, meta } = answer;
    for (const { contentId, metrics } of data) {
      byId.set(contentId, { plays: metrics.plays, completionRate: metrics.completionRate });
    }
    cursor = meta.nextCursor;
    if (cursor === null) break;
  }
  return { byId, isComplete: cursor === null };
}
