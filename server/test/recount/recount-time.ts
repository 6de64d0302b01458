/** Ranges and their buckets, for the recount. */
export type Range = {
  startDate: string;
  endDate: string;
  granularity?: 'hour' | 'day' | 'week';
};
export type Bucket = { from: number; to: number; date: string };

const second = 1_000;
export const hour = 3_600 * second;
export const day = 24 * hour;

export function spanOf({ startDate, endDate }: Range): { from: number; to: number } {
  return { from: Date.parse(startDate), to: Date.parse(endDate) + day };
}

/** The part of a range that is compared with the previous one: an incomplete day is left out. */
export function comparedLength(range: Range): number {
  const { from, to } = spanOf(range);
  const today = dayOf(Date.now());
  return isWithin(today, from, to) ? today - from : to - from;
}

export function bucketsOf(range: Range): Bucket[] {
  const { from, to } = spanOf(range);
  const buckets: Bucket[] = [];
  const step = range.granularity === 'hour' ? hour : day;
  for (let at = from; at < to; at += step) {
    const date =
      range.granularity === 'hour'
        ? new Date(at).toISOString()
        : new Date(at).toISOString().slice(0, 10);
    buckets.push({ from: at, to: at + step, date });
  }
  if (range.granularity !== 'week') return buckets;
  const mondayOf = ({ from: at }: Bucket) =>
    new Date(at - ((new Date(at).getUTCDay() + 6) % 7) * day).toISOString().slice(0, 10);
  return [...Map.groupBy(buckets, mondayOf)].map(([date, days]) => ({
    from: days[0]?.from ?? 0,
    to: days.at(-1)?.to ?? 0,
    date,
  }));
}

export function isWithin(at: number, from: number, to: number): boolean {
  return at >= from && at < to;
}

export function dayOf(at: number): number {
  return Math.floor(at / day) * day;
}
