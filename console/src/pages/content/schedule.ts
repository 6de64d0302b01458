/** The days of a month and their events. Days have the format `2026-01-31`. */
export type Scheduled = {
  id: string;
  title: string;
  publishAt: string | null;
  expiresAt: string | null;
};
/** An item enters or leaves the feed. */
export type Entry = { item: Scheduled; at: Date; isStart: boolean };

const dayMs = 86_400_000;
const two = (value: number): string => String(value).padStart(2, '0');

/** The day of a time in the browser's time zone. */
export const dayHere = (at: Date): string =>
  `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;

/** The month in an address, or the current one. */
export function monthOf(text: string | undefined, now = new Date()): string {
  return text !== undefined && /^\d{4}-(?:0[1-9]|1[0-2])$/.test(text)
    ? text
    : dayHere(now).slice(0, 7);
}

export function shiftMonth(month: string, by: number): string {
  const date = new Date(`${month}-01T00:00:00Z`);
  date.setUTCMonth(date.getUTCMonth() + by);
  return date.toISOString().slice(0, 7);
}

/** The whole weeks from Monday to Sunday that cover a month. */
export function daysOf(month: string): string[] {
  const first = Date.parse(`${month}-01T00:00:00Z`);
  const next = Date.parse(`${shiftMonth(month, 1)}-01T00:00:00Z`);
  const start = first - ((new Date(first).getUTCDay() + 6) % 7) * dayMs;
  const weeks = Math.ceil((next - start) / (7 * dayMs));
  return Array.from({ length: weeks * 7 }, (_, index) =>
    new Date(start + index * dayMs).toISOString().slice(0, 10),
  );
}

/** Entries by day, in chronological order. */
export function entriesOf(items: readonly Scheduled[]): ReadonlyMap<string, readonly Entry[]> {
  const all = items.flatMap((item): Entry[] => [
    ...(item.publishAt === null ? [] : [{ item, at: new Date(item.publishAt), isStart: true }]),
    ...(item.expiresAt === null ? [] : [{ item, at: new Date(item.expiresAt), isStart: false }]),
  ]);
  const ordered = all.toSorted((one, other) => one.at.getTime() - other.at.getTime());
  return Map.groupBy(ordered, ({ at }) => dayHere(at));
}
