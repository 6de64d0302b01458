/** The date ranges of reports. */
const dayMs = 86_400_000;

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** The current day in the organization's time zone. */
export const todayIn = (timeZone: string): string =>
  new Date().toLocaleDateString('sv', { timeZone });

/** The last days up to today in the organization's time zone. */
export function period(days: number, timeZone: string) {
  const end = Date.parse(todayIn(timeZone));
  return {
    startDate: dayOf(end - (days - 1) * dayMs),
    endDate: dayOf(end),
    granularity: days === 1 ? ('hour' as const) : ('day' as const),
  };
}

/** A range of the same length immediately before. */
export function periodBefore<Query extends { startDate: string; endDate: string }>(
  query: Query,
): Query {
  const [start, end] = [Date.parse(query.startDate), Date.parse(query.endDate)];
  if (!(start <= end)) return query;
  return {
    ...query,
    startDate: dayOf(start - (end - start) - dayMs),
    endDate: dayOf(start - dayMs),
  };
}
