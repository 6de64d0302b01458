/**
 * Playback quality lists from facts: by the first rendition and codec of a view, and by the code
 * and message of its first error.
 */
import type { Db } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/values/ids.ts';
import type { LabelColumn } from '../facts/facts.ts';
import { addFacts } from '../facts/scan.ts';
import { Split, type SplitDimension } from '../facts/split.ts';
import { FactSums, type FactQuery } from '../facts/sums.ts';
import { findLabels } from './dimensions.ts';
import { toFactFilter, type ReportFilter } from './filter.ts';
import type { Within } from './filtered-series.ts';
import { ratio, toSeconds } from './metrics.ts';

/** Maximum number of entries per list; those with the highest counts are kept. */
const maxLabels = 100;
const maxMessages = 5;

type Message = { readonly code: string; readonly message: string; readonly views: number };
type Split1 = { readonly sums: FactSums; readonly split: Split };

export type ViewLists = {
  readonly renditions: Split1;
  readonly codecs: Split1;
  readonly errors: Split1;
  readonly errorsBefore: ReadonlyMap<string, number>;
  readonly messages: readonly Message[];
};

export async function readViewLists(
  db: Db,
  organizationId: OrganizationId,
  wanted: { period: Within; before: Within; filter: ReportFilter | null },
): Promise<ViewLists> {
  const { period, before } = wanted;
  const filter = await toFactFilter(db, organizationId, wanted.filter ?? {});
  const find = (column: LabelColumn) => findLabels(db, organizationId, column);
  const [rendition, codec, error, message] = await Promise.all([
    find('rendition'),
    find('codec'),
    find('errorCode'),
    find('errorMessage'),
  ]);
  const counts = ['plays', 'stalls', 'stall_ms'] as const;
  const renditions = splitBy([rendition], { counts, startups: true });
  const codecs = splitBy([codec], { counts, startups: true });
  const errors = splitBy([error], { counts: ['errored_views'] });
  const messages = splitBy([error, message], { counts: ['errored_views'] });
  const earlier = splitBy([error], { counts: ['errored_views'] });
  const all = [renditions, codecs, errors, messages].map(({ sums }) => sums);
  await addFacts(db, organizationId, rangeOf(period, filter), all);
  await addFacts(db, organizationId, rangeOf(before, filter), [earlier.sums]);
  return {
    renditions,
    codecs,
    errors,
    errorsBefore: new Map(erroredOf(earlier).map(({ names, views }) => [names[0] ?? '', views])),
    messages: erroredOf(messages).map(({ names: [code = '', text = ''], views }) => ({
      code,
      message: text,
      views,
    })),
  };
}

function rangeOf({ startMs, endMs }: Within, filter: Parameters<typeof addFacts>[2]['filter']) {
  return { startMs, endMs, filter };
}

function splitBy(
  dimensions: readonly SplitDimension[],
  parts: Pick<FactQuery, 'counts' | 'startups'>,
): Split1 {
  const split: Split = new Split(dimensions, { leavesOutSessions: true }, (key) =>
    sums.groupOf(key),
  );
  const sums: FactSums = new FactSums({ groupBy: 'device', split, ...parts });
  return { sums, split };
}

function erroredOf({ sums, split }: Split1) {
  return [...sums.groups.keys()]
    .map((key) => ({
      names: split.namesOf(Number(key)),
      views: sums.countOf(key, 'errored_views'),
    }))
    .filter(({ views }) => views > 0)
    .toSorted((a, b) => b.views - a.views || (a.names.join('\n') < b.names.join('\n') ? -1 : 1));
}

export function presentViewLists({
  renditions,
  codecs,
  errors,
  errorsBefore,
  messages,
}: ViewLists) {
  return {
    renditions: playedOf(renditions).map(({ label, stalls, stallMs, ...plays }) => ({
      rendition: label,
      ...plays,
      progressReports: null,
      rebuffers: stalls,
      rebufferTime: toSeconds(stallMs),
      switchesTo: null,
    })),
    codecs: playedOf(codecs).map(({ label, plays, averageStartupTime }) => ({
      codec: label,
      plays,
      averageStartupTime,
    })),
    errors: presentErrors(
      erroredOf(errors)
        .slice(0, maxLabels)
        .map(({ names: [code = ''], views }) => ({ code: code || null, count: views })),
      errorsBefore,
      messages,
    ),
  };
}

/** Views that played something, most plays first. */
function playedOf({ sums, split }: Split1) {
  return [...sums.groups]
    .map(([key, group]) => {
      const startups = [...(sums.startups.get(group)?.values() ?? [])];
      const [count, total] = [
        startups.reduce((sum, one) => sum + one.count, 0),
        startups.reduce((sum, one) => sum + one.total, 0),
      ];
      return {
        label: split.namesOf(Number(key))[0] || null,
        plays: sums.countOf(key, 'plays'),
        averageStartupTime: ratio(total, count),
        stalls: sums.countOf(key, 'stalls'),
        stallMs: sums.countOf(key, 'stall_ms'),
      };
    })
    .filter(({ plays, stalls }) => plays > 0 || stalls > 0)
    .toSorted((a, b) => b.plays - a.plays || ((a.label ?? '') < (b.label ?? '') ? -1 : 1))
    .slice(0, maxLabels);
}

export function presentErrors(
  errors: readonly { readonly code: string | null; readonly count: number }[],
  before: ReadonlyMap<string, number>,
  messages: readonly Message[],
) {
  return errors.map(({ code, count }) => {
    const previous = before.get(code ?? '') ?? 0;
    return {
      code,
      count,
      previous,
      change: ratio(count - previous, previous),
      messages: messages
        .filter((message) => message.code === (code ?? ''))
        .slice(0, maxMessages)
        .map(({ message, views }) => ({ message: message || null, views })),
    };
  });
}
