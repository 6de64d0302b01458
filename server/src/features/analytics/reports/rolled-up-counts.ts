/** The numbers of reports without a filter, from the rollups that projections maintain. */
import { dayMs } from '../../../platform/values/time.ts';
import type { Db } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/values/ids.ts';
import { addDetail, emptyDetail } from '../projections/engagement/content-detail.ts';
import { hasPeople } from '../projections/links/people-queries.ts';
import type { CountSource, DayCounts } from './count-source.ts';
import {
  readAudienceSegments,
  readItemCounters,
  readMovedItems,
  readSeries,
  readTagSegments,
} from './counter-queries.ts';
import { readDetails } from './detail-queries.ts';
import { countCohorts } from './filtered-people.ts';
import { maxTags, peopleOf, segmentPeople } from './filtered-segments.ts';
import { addFiltered } from './filtered-series.ts';
import { noViewers, sumCounters } from './metrics.ts';
import type { MoversRequest } from './movers-query.ts';
import { bucketsOf, formatDay, type Period } from './period.ts';
import { readLabelSeries, readQuality } from './quality-queries.ts';
import type { SegmentKind } from './query-schemas.ts';
import { readNewAndReturning, readRetention } from './retention-queries.ts';
import { daySpanOf, spanOf } from './series.ts';
import {
  countItemPeople,
  countOrganizationPeople,
  countOrganizationViewers,
  daysOfPeriod,
} from './unique-viewers.ts';

export class RolledUpCounts implements CountSource {
  readonly hasSessions = true;
  readonly #db: Db;
  readonly #organizationId: OrganizationId;

  constructor(db: Db, organizationId: OrganizationId) {
    this.#db = db;
    this.#organizationId = organizationId;
  }

  async overTime(period: Period, others: readonly Period[]) {
    const [series, people, ...otherSeries] = await Promise.all([
      readSeries(this.#db, this.#organizationId, spanOf(period)),
      countOrganizationPeople(this.#db, this.#organizationId, period, ...others),
      ...others.map((other) => readSeries(this.#db, this.#organizationId, daySpanOf(other))),
    ]);
    return { series, people, others: otherSeries.map(sumCounters) };
  }

  byHour({ startMs, endMs }: Period) {
    return readSeries(this.#db, this.#organizationId, { grain: 'hour', startMs, endMs });
  }

  async bySegment(period: Period, kind: SegmentKind) {
    const span = daySpanOf(period);
    // Rollups do not store the viewers of a segment.
    const found = segmentPeople(kind, { counts: ['views'] });
    const [series, segments] = await Promise.all([
      readSeries(this.#db, this.#organizationId, spanOf(period)),
      kind === 'tag'
        ? readTagSegments(this.#db, this.#organizationId, { span, limit: maxTags })
        : readAudienceSegments(this.#db, this.#organizationId, kind, span),
      addFiltered(this.#db, this.#organizationId, { within: period, filter: {} }, found.parts),
    ]);
    const people = await peopleOf(this.#db, this.#organizationId, kind, found);
    return {
      series,
      segments: segments.map((one) => ({ ...one, people: people.get(one.segment) ?? noViewers })),
    };
  }

  async ofItem(period: Period, contentId: string) {
    const days = daysOfPeriod(period);
    const isByHour = period.granularity === 'hour';
    const [series, people, details] = await Promise.all([
      readItemCounters(this.#db, this.#organizationId, contentId, {
        grain: isByHour ? 'hour' : 'day',
        periods: isByHour ? bucketsOf(period).map(({ startMs }) => new Date(startMs)) : days,
      }),
      countItemPeople(this.#db, this.#organizationId, contentId, period),
      readDetails(this.#db, this.#organizationId, contentId, days),
    ]);
    const detail = emptyDetail();
    for (const one of details) addDetail(detail, one);
    return { series, people, ...detail };
  }

  async playback(period: Period) {
    const [series, lists, startups] = await Promise.all([
      readSeries(this.#db, this.#organizationId, spanOf(period)),
      readQuality(this.#db, this.#organizationId, daySpanOf(period)),
      readLabelSeries(this.#db, this.#organizationId, 'startup', spanOf(period)),
    ]);
    const dated = startups.map(({ period: moment, label, count, total }) => ({
      startMs: moment.getTime(),
      bucket: Number(label),
      count,
      total,
    }));
    return { series, lists, startups: dated };
  }

  async audience(period: Period, [month, week, day]: readonly [Period, Period, Period]) {
    const [active, byDay] = await Promise.all([
      countOrganizationViewers(this.#db, this.#organizationId, month, week, day),
      this.#newAndReturning(period),
    ]);
    return { active, byDay };
  }

  async #newAndReturning(period: Period): Promise<Map<number, DayCounts>> {
    if (!(await hasPeople(this.#db, this.#organizationId))) {
      return readNewAndReturning(this.#db, this.#organizationId, datesOf(period));
    }
    const days = new Map<number, DayCounts>();
    for (const { cohort, day, viewers } of await countCohorts(this.#db, this.#organizationId)) {
      const counts = days.get(day) ?? { newViewers: 0, returningViewers: 0 };
      days.set(day, counts);
      if (cohort === day) counts.newViewers += viewers;
      else counts.returningViewers += viewers;
    }
    return days;
  }

  async cohorts(period: Period) {
    if (!(await hasPeople(this.#db, this.#organizationId))) {
      return readRetention(this.#db, this.#organizationId, datesOf(period));
    }
    const first = Math.floor(period.startMs / dayMs);
    const last = Math.floor((period.endMs - 1) / dayMs);
    return (await countCohorts(this.#db, this.#organizationId))
      .filter(({ cohort, day }) => cohort >= first && day <= last)
      .map((count) => ({ ...count, cohort: count.cohort - first, day: count.day - first }));
  }

  moved(query: MoversRequest) {
    return readMovedItems(this.#db, this.#organizationId, query);
  }
}

function datesOf({ startMs, endMs }: Period): { startDate: string; endDate: string } {
  return { startDate: formatDay(startMs), endDate: formatDay(endMs - 1) };
}
