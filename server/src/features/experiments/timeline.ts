/**
 * The lift of one metric over the days of an experiment. Each point uses the data known at the end
 * of a UTC day, with the interval of a confidence sequence that covers all points at once. Also
 * tests for a novelty effect, which fades after the first days.
 */
import type { Db } from '../../platform/database/database.ts';
import { dayMs } from '../../platform/values/time.ts';
import { compareValues, readValues, sequenceOf, type Measure } from './breakdown.ts';
import { planOf } from './experiment.ts';
import type { MetricTest } from './statistics/analysis.ts';
import type { Monitoring } from './statistics/monitoring.ts';
import { normalTwoSided } from './statistics/tails.ts';

/** Daily activity of viewers is kept this long. */
const maxDays = 34;
/** With fewer days, the two halves are too short to compare. */
const leastDaysOfNovelty = 4;
/** Stricter than for results, because it is requested often and for every metric. */
const noveltyAlpha = 0.01;

export type Timeline = Awaited<ReturnType<typeof readTimeline>>;

export async function readTimeline(db: Db, measure: Measure) {
  const ends = dayEnds(measure);
  const points = [];
  for (const end of ends) {
    const until = new Date(end);
    const rows = await readValues(db, measure, { until, isPast: true });
    points.push(presentPoint(measure, new Date(end - dayMs), compareValues(measure, rows)));
  }
  const now = compareValues(measure, await readValues(db, measure, {}));
  points.push(presentPoint(measure, new Date(measure.until.getTime() - 1), now));
  return { metric: measure.name, points, novelty: await readNovelty(db, measure, ends) };
}

/** The ends of complete UTC days, at most the last `maxDays` of them. */
function dayEnds({ row, until }: Measure): number[] {
  const startMs = row.started_at?.getTime() ?? until.getTime();
  const firstEnd = (Math.floor(startMs / dayMs) + 1) * dayMs;
  const ends: number[] = [];
  for (let end = firstEnd; end < until.getTime(); end += dayMs) ends.push(end);
  return ends.slice(-maxDays);
}

type Compared = ReturnType<typeof compareValues>;

function presentPoint(measure: Measure, day: Date, { test, units }: Compared) {
  const { row } = measure;
  const treatments = row.variants.length - 1;
  const level = planOf(row).alpha / Math.max(1, treatments);
  return {
    date: day.toISOString().slice(0, 10),
    variants: row.variants.map(({ id }, index) => {
      const result = test.results[index] ?? null;
      return {
        id,
        participants: units[index] ?? 0,
        value: (result ?? test.control).value,
        lift: result?.lift ?? null,
        liftInterval: boundsOf(test, index, level, sequenceOf(row)),
      };
    }),
  };
}

function boundsOf(test: MetricTest, armIndex: number, level: number, monitoring: Monitoring) {
  const pending = test.pending.find(({ index }) => index === armIndex);
  if (pending === undefined) return null;
  const nominal = monitoring.nominalLevel(level, pending.units);
  return pending.comparison.intervalsAt(nominal)?.liftInterval ?? null;
}

/**
 * Compares the lift of the first half of the days with that of the second, for participants present
 * since the first half. The halves are treated as independent although they contain the same
 * people, which makes the test conservative.
 */
async function readNovelty(db: Db, measure: Measure, ends: readonly number[]) {
  const { row, metric } = measure;
  if (ends.length < leastDaysOfNovelty || metric === 'retention') return [];
  const middle = new Date(ends[Math.floor(ends.length / 2) - 1] ?? 0);
  const [first, second] = [
    compareValues(measure, await readValues(db, measure, { until: middle, isPast: true })).test,
    compareValues(measure, await readValues(db, measure, { after: middle })).test,
  ];
  return row.variants.flatMap(({ id }, index) => {
    const [early, late] = [liftOf(first, index), liftOf(second, index)];
    if (early === null || late === null) return [];
    const z = (early.lift - late.lift) / Math.hypot(early.error, late.error);
    const pValue = normalTwoSided(z);
    const isFading =
      pValue < noveltyAlpha &&
      Math.abs(late.lift) < Math.abs(early.lift) &&
      Math.abs(early.lift) > 2 * early.error;
    return [{ variant: id, earlyLift: early.lift, lateLift: late.lift, pValue, isFading }];
  });
}

function liftOf({ pending }: MetricTest, armIndex: number) {
  const found = pending.find(({ index }) => index === armIndex);
  const lift = found?.comparison.lift ?? null;
  if (found === undefined || lift === null) return null;
  return { lift, error: found.comparison.standardError / Math.abs(found.controlValue) };
}
