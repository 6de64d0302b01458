/** The distributions of one item on one day, stored as JSON in `content_day.detail`. */

/** Plays and watch time in milliseconds by label. */
export type Breakdown = Map<string, { plays: number; watchMs: number }>;

export type ContentDetail = {
  /** Number of views by how far they got. Keys are seconds from `positionStep`. */
  readonly positions: Map<number, number>;
  /** End positions of repeated runs within a view, for clips that loop. */
  readonly reruns: Map<number, number>;
  readonly devices: Breakdown;
  readonly countries: Breakdown;
};

type Written = {
  positions: [second: number, views: number][];
  /** Missing if nothing was replayed. */
  reruns?: [second: number, runs: number][];
  devices: Record<string, [plays: number, watchMs: number]>;
  countries: Record<string, [plays: number, watchMs: number]>;
};

export function emptyDetail(): ContentDetail {
  return { positions: new Map(), reruns: new Map(), devices: new Map(), countries: new Map() };
}

/**
 * Rounds a position down to a step, in seconds: every second of the first minute, then every ten
 * seconds up to ten minutes, then every minute up to four hours.
 */
export function positionStep(positionMs: number): number {
  const second = Math.floor(positionMs / 1_000);
  return Math.min(second - (second % stepLength(second)), 4 * 3_600);
}

export function stepLength(second: number): number {
  if (second < 60) return 1;
  return second < 600 ? 10 : 60;
}

/** Adds the numbers of `from`, which may be negative, to `into`. */
export function addDetail(into: ContentDetail, from: ContentDetail): void {
  addSteps(into.positions, from.positions);
  addSteps(into.reruns, from.reruns);
  addBreakdown(into.devices, from.devices);
  addBreakdown(into.countries, from.countries);
}

export function addSteps(into: Map<number, number>, from: ReadonlyMap<number, number>): void {
  for (const [second, count] of from) into.set(second, (into.get(second) ?? 0) + count);
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

/** Serializes deterministically; returns null if nothing is left. */
export function writeDetail(detail: ContentDetail): string | null {
  const { positions, devices, countries } = detail;
  const reruns = writeSteps(detail.reruns);
  const written: Written = {
    positions: writeSteps(positions),
    ...(reruns.length > 0 && { reruns }),
    devices: writeBreakdown(devices),
    countries: writeBreakdown(countries),
  };
  const isEmpty =
    written.positions.length === 0 &&
    reruns.length === 0 &&
    Object.keys(written.devices).length === 0 &&
    Object.keys(written.countries).length === 0;
  return isEmpty ? null : JSON.stringify(written);
}

function writeSteps(steps: ReadonlyMap<number, number>): [number, number][] {
  return [...steps].filter(([, count]) => count !== 0).toSorted(([a], [b]) => a - b);
}

function writeBreakdown(breakdown: Breakdown): Written['devices'] {
  const rows: [string, [number, number]][] = [];
  for (const [label, { plays, watchMs }] of breakdown) {
    if (plays !== 0 || watchMs !== 0) rows.push([label, [plays, watchMs]]);
  }
  return Object.fromEntries(rows.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** @param detail a value of `content_day.detail` */
export function readDetail(detail: unknown): ContentDetail {
  const { positions, reruns = [], devices, countries } = detail as Written;
  return {
    positions: new Map(positions),
    reruns: new Map(reruns),
    devices: readBreakdown(devices),
    countries: readBreakdown(countries),
  };
}

function readBreakdown(written: Written['devices']): Breakdown {
  return new Map(
    Object.entries(written).map(([label, [plays, watchMs]]) => [label, { plays, watchMs }]),
  );
}
