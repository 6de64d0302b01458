/** The distributions of one item on one day, which `content_day.detail` holds as JSON. */

/** Plays and milliseconds of watching by a label. */
export type Breakdown = Map<string, { plays: number; watchMs: number }>;

export type ContentDetail = {
  /** Views by how far they got; keys are seconds as `positionStep` gives them. */
  readonly positions: Map<number, number>;
  readonly devices: Breakdown;
  readonly countries: Breakdown;
};

type Written = {
  positions: [second: number, views: number][];
  devices: Record<string, [plays: number, watchMs: number]>;
  countries: Record<string, [plays: number, watchMs: number]>;
};

export function emptyDetail(): ContentDetail {
  return { positions: new Map(), devices: new Map(), countries: new Map() };
}

/**
 * The second that stands for a position: each one of the first minute, then steps of ten seconds to
 * ten minutes, then of a minute to four hours.
 */
export function positionStep(positionMs: number): number {
  const second = Math.floor(positionMs / 1_000);
  return Math.min(second - (second % stepLength(second)), 4 * 3_600);
}

/** Seconds from this step to the next. */
export function stepLength(second: number): number {
  if (second < 60) return 1;
  return second < 600 ? 10 : 60;
}

/** Adds the numbers of `from`, which may be negative, to `into`. */
export function addDetail(into: ContentDetail, from: ContentDetail): void {
  for (const [second, views] of from.positions) {
    into.positions.set(second, (into.positions.get(second) ?? 0) + views);
  }
  addBreakdown(into.devices, from.devices);
  addBreakdown(into.countries, from.countries);
}

function addBreakdown(into: Breakdown, from: Breakdown): void {
  for (const [label, { plays, watchMs }] of from) addToBreakdown(into, label, plays, watchMs);
}

export function addToBreakdown(
  into: Breakdown,
  label: string,
  plays: number,
  watchMs: number,
): void {
  const found = into.get(label);
  if (found === undefined) into.set(label, { plays, watchMs });
  else {
    found.plays += plays;
    found.watchMs += watchMs;
  }
}

/** The same text for the same numbers; null where nothing is left. */
export function writeDetail({ positions, devices, countries }: ContentDetail): string | null {
  const written: Written = {
    positions: [...positions].filter(([, views]) => views !== 0).toSorted(([a], [b]) => a - b),
    devices: writeBreakdown(devices),
    countries: writeBreakdown(countries),
  };
  const isEmpty =
    written.positions.length === 0 &&
    Object.keys(written.devices).length === 0 &&
    Object.keys(written.countries).length === 0;
  return isEmpty ? null : JSON.stringify(written);
}

function writeBreakdown(breakdown: Breakdown): Written['devices'] {
  const rows: [string, [number, number]][] = [];
  for (const [label, { plays, watchMs }] of breakdown) {
    if (plays !== 0 || watchMs !== 0) rows.push([label, [plays, watchMs]]);
  }
  return Object.fromEntries(rows.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** @param detail a value of the column `content_day.detail` */
export function readDetail(detail: unknown): ContentDetail {
  const { positions, devices, countries } = detail as Written;
  return {
    positions: new Map(positions),
    devices: readBreakdown(devices),
    countries: readBreakdown(countries),
  };
}

function readBreakdown(written: Written['devices']): Breakdown {
  return new Map(
    Object.entries(written).map(([label, [plays, watchMs]]) => [label, { plays, watchMs }]),
  );
}
