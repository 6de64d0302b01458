/** The numbers of reports with a filter, from the matching facts. */
import type { Db } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/values/ids.ts';
import { FactSums } from '../facts/sums.ts';
import type { Breakdown } from '../projections/engagement/content-detail.ts';
import type { CountSource } from './count-source.ts';
import { isAboutItems, type ReportFilter } from './filter.ts';
import { activeSums, countFilteredRetention, countNewAndReturning } from './filtered-people.ts';
import {
  countedItems,
  findNames,
  maxTags,
  peopleOf,
  segmentPeople,
  segmentsOf,
  sumItems,
} from './filtered-segments.ts';
import {
  addFiltered,
  FilteredSeries,
  readFilteredSeries,
  type SeriesParts,
  type Within,
} from './filtered-series.ts';
import { noViewers, sumCounters } from './metrics.ts';
import { movedColumns, type MoversRequest } from './movers-query.ts';
import type { Period } from './period.ts';
import type { SegmentKind } from './query-schemas.ts';

const hourCounts = ['impressions', 'plays', 'views', 'watch_ms', 'likes', 'sessions'] as const;

export class FilteredCounts implements CountSource {
  readonly hasSessions: boolean;
  readonly #db: Db;
  readonly #organizationId: OrganizationId;
  readonly #filter: ReportFilter;

  constructor(db: Db, organizationId: OrganizationId, filter: ReportFilter) {
    this.#db = db;
    this.#organizationId = organizationId;
    this.#filter = filter;
    this.hasSessions = !isAboutItems(filter);
  }

  async overTime(period: Period, others: readonly Period[]) {
    const fromMs = Math.min(...[period, ...others].map(({ startMs }) => startMs));
    const found = await this.#series(period, { viewers: 'watching', reactors: true }, fromMs);
    return {
      series: found.series(period),
      others: others.map((other) => sumCounters(found.series(other))),
      people: found.people(period, ...others),
    };
  }

  async byHour({ startMs, endMs }: Period) {
    const period: Period = { startMs, endMs, granularity: 'hour' };
    return (await this.#series(period, { counts: hourCounts })).series(period);
  }

  async bySegment(period: Period, kind: SegmentKind) {
    const series = new FilteredSeries(period, {});
    const found = segmentPeople(kind);
    await this.#add(period, [series.sums, ...found.parts]);
    const segments = await segmentsOf(this.#db, this.#organizationId, kind, found.sums);
    const people = await peopleOf(this.#db, this.#organizationId, kind, found);
    return {
      series: series.series(period),
      segments: segments
        .slice(0, kind === 'tag' ? maxTags : undefined)
        .map((one) => ({ ...one, people: people.get(one.segment) ?? noViewers })),
    };
  }

  async ofItem(period: Period, contentId: string) {
    const found = new FilteredSeries(period, {
      viewers: 'watching',
      reactors: true,
      reached: true,
    });
    const [devices, countries] = [breakdownSums('device'), breakdownSums('country')];
    const filter = { ...this.#filter, contentId };
    const sums = [...found.parts, devices, countries];
    await addFiltered(this.#db, this.#organizationId, { within: period, filter }, sums);
    const positions = new Map<number, number>();
    for (const steps of found.sums.reached.values()) {
      for (const [step, views] of steps) positions.set(step, (positions.get(step) ?? 0) + views);
    }
    return {
      series: found.series(period),
      people: found.people(period),
      devices: breakdownOf(devices),
      countries: breakdownOf(countries),
      positions,
      reruns: null,
    };
  }

  /** Uses the first start of each view, but rollups count every start. */
  async playback(period: Period) {
    const found = await this.#series(period, { startups: true });
    const startups = [...found.sums.groups].flatMap(([moment, group]) =>
      [...(found.sums.startups.get(group) ?? [])].map(([bucket, tally]) => ({
        startMs: Number(moment),
        bucket,
        ...tally,
      })),
    );
    return { series: found.series(period), lists: null, startups };
  }

  async audience(period: Period, [month, week, day]: readonly [Period, Period, Period]) {
    const watching = new FilteredSeries(month, { counts: [], viewers: 'watching' });
    const active = activeSums();
    const startMs = Math.min(month.startMs, period.startMs);
    await this.#add({ startMs, endMs: period.endMs }, [watching.sums, active]);
    return {
      active: watching.viewers(month, week, day),
      byDay: await countNewAndReturning(this.#db, this.#organizationId, active),
    };
  }

  cohorts(period: Period) {
    return countFilteredRetention(this.#db, this.#organizationId, period, this.#filter);
  }

  async moved({ periods, metric, direction, limit }: MoversRequest) {
    const column = movedColumns[metric];
    const sumsIn = (within: Period) => {
      const wanted = { within, filter: this.#filter };
      return sumItems(this.#db, this.#organizationId, wanted, { counts: [column] });
    };
    const [now, before] = [await sumsIn(periods.now), await sumsIn(periods.before)];
    const sign = { up: 1, down: -1, both: 0 }[direction];
    const moved = [...new Set([...countedItems(now), ...countedItems(before)])]
      .map((contentId) => ({
        contentId,
        current: now.countOf(contentId, column),
        previous: before.countOf(contentId, column),
      }))
      .filter(({ current, previous }) =>
        sign === 0 ? current !== previous : sign * (current - previous) > 0,
      );
    const ids = moved.map(({ contentId }) => contentId);
    const names = await findNames(this.#db, this.#organizationId, ids);
    const titles = new Map(names.map(({ contentId, title }) => [contentId, title]));
    const distance = ({ current, previous }: { current: number; previous: number }) =>
      Math.abs(current - previous);
    return moved
      .flatMap((one) => {
        const title = titles.get(one.contentId);
        return title === undefined ? [] : [{ ...one, title }];
      })
      .toSorted((a, b) => distance(b) - distance(a) || (a.contentId < b.contentId ? -1 : 1))
      .slice(0, limit);
  }

  #series(period: Period, parts: SeriesParts, fromMs = period.startMs): Promise<FilteredSeries> {
    const asked = { filter: this.#filter, parts, fromMs };
    return readFilteredSeries(this.#db, this.#organizationId, period, asked);
  }

  #add(within: Within, sums: readonly FactSums[]): Promise<void> {
    const wanted = { within, filter: this.#filter };
    return addFiltered(this.#db, this.#organizationId, wanted, sums);
  }
}

function breakdownSums(groupBy: 'device' | 'country'): FactSums {
  return new FactSums({ groupBy, counts: ['plays', 'watch_ms'] });
}

function breakdownOf(sums: FactSums): Breakdown {
  return new Map(
    [...sums.groups.keys()].map((key) => {
      const { plays, watch_ms: watchMs } = sums.countsOf(key);
      return [String(key), { plays, watchMs }];
    }),
  );
}
