import { weights, type RankedEntry } from './pipeline.ts';

export type PageMeta = {
  requestId: string;
  feedId: string;
  nextCursor: string | null;
  explain: boolean;
};

/** The page as JSON text, put together from the text of its items. */
export function presentPage(
  page: readonly RankedEntry[],
  items: readonly (string | null)[],
  { requestId, feedId, nextCursor, explain }: PageMeta,
): string {
  const shown = items.flatMap((json, index) => {
    const ranked = page[index];
    if (json === null || ranked === undefined) return [];
    return [explain ? withRanking(json, ranked) : json];
  });
  const meta = JSON.stringify({
    requestId,
    nextCursor,
    hasMore: nextCursor !== null,
    feedId,
    exhausted: nextCursor === null,
    experiments: [],
  });
  return `{"data":[${shown.join(',')}],"meta":${meta}}`;
}

/** Adds why the item stands where it does: Σ weight·signal / Σ weight is the score. */
function withRanking(json: string, { score, signals }: RankedEntry): string {
  const ranking = JSON.stringify({ score, signals, weights, reasons: ['recency'] });
  return `${json.slice(0, -1)},"ranking":${ranking}}`;
}
