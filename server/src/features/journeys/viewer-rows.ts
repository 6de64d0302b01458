/** Collects rows of events in typed arrays and sorts them by viewer and time. */

/** The events of one viewer, from `from` up to but excluding `to`, in chronological order. */
export type ViewerEvents = {
  readonly member: number;
  readonly at: Float64Array;
  readonly codes: Int32Array;
  readonly from: number;
  readonly to: number;
};
export type Visit = (events: ViewerEvents) => void;

export class ViewerRows {
  readonly #viewers = new Map<number, number>();
  viewer = new Uint32Array(4_096);
  at = new Float64Array(4_096);
  code = new Int32Array(4_096);
  size = 0;

  /** The zero-based number of a viewer. */
  viewerOf(member: number): number {
    let viewer = this.#viewers.get(member);
    if (viewer === undefined) {
      viewer = this.#viewers.size;
      this.#viewers.set(member, viewer);
    }
    return viewer;
  }

  add(viewer: number, at: number, code: number): void {
    if (this.size === this.viewer.length) this.#grow();
    this.viewer[this.size] = viewer;
    this.at[this.size] = at;
    this.code[this.size] = code;
    this.size += 1;
  }

  get members(): number[] {
    return [...this.#viewers.keys()];
  }

  #grow(): void {
    const length = this.viewer.length * 2;
    const [viewer, at, code] = [this.viewer, this.at, this.code];
    this.viewer = new Uint32Array(length);
    this.viewer.set(viewer);
    this.at = new Float64Array(length);
    this.at.set(at);
    this.code = new Int32Array(length);
    this.code.set(code);
  }
}

export type SortedRows = {
  /** Visits the next viewers. @returns whether there are more */
  visitSome(visit: Visit): boolean;
};

const viewersAtOnce = 500;

/** @param compare orders the codes of simultaneous events */
export function sortByViewer(
  rows: ViewerRows,
  compare: (code: number, other: number) => number,
): SortedRows {
  const members = rows.members;
  const starts = new Uint32Array(members.length + 1);
  for (let row = 0; row < rows.size; row += 1) {
    const next = (rows.viewer[row] ?? 0) + 1;
    starts[next] = (starts[next] ?? 0) + 1;
  }
  for (let viewer = 1; viewer < starts.length; viewer += 1) {
    starts[viewer] = (starts[viewer] ?? 0) + (starts[viewer - 1] ?? 0);
  }
  const at = new Float64Array(rows.size);
  const codes = new Int32Array(rows.size);
  const places = starts.slice();
  for (let row = 0; row < rows.size; row += 1) {
    const viewer = rows.viewer[row] ?? 0;
    const place = places[viewer] ?? 0;
    places[viewer] = place + 1;
    at[place] = rows.at[row] ?? 0;
    codes[place] = rows.code[row] ?? 0;
  }
  let next = 0;
  return {
    visitSome(visit) {
      const end = Math.min(next + viewersAtOnce, members.length);
      for (; next < end; next += 1) {
        const [from, to] = [starts[next] ?? 0, starts[next + 1] ?? 0];
        if (from === to) continue;
        sortSlice({ at, codes, from, to }, compare);
        visit({ member: members[next] ?? 0, at, codes, from, to });
      }
      return next < members.length;
    },
  };
}

type Slice = Omit<ViewerEvents, 'member'>;

/** Most slices are sorted or nearly so. */
const maxInserted = 64;

function sortSlice(slice: Slice, compare: (code: number, other: number) => number): void {
  const { at, codes, from, to } = slice;
  if (to - from > maxInserted) {
    if (!isSorted(slice, compare)) sortLongSlice(slice, compare);
    return;
  }
  for (let row = from + 1; row < to; row += 1) {
    const [moment, code] = [at[row] ?? 0, codes[row] ?? 0];
    let place = row;
    for (; place > from; place -= 1) {
      const before = at[place - 1] ?? 0;
      if (before < moment) break;
      if (before === moment && compare(codes[place - 1] ?? 0, code) <= 0) break;
      at[place] = before;
      codes[place] = codes[place - 1] ?? 0;
    }
    at[place] = moment;
    codes[place] = code;
  }
}

function isSorted({ at, codes, from, to }: Slice, compare: (a: number, b: number) => number) {
  for (let row = from + 1; row < to; row += 1) {
    const [before, moment] = [at[row - 1] ?? 0, at[row] ?? 0];
    if (before > moment) return false;
    if (before === moment && compare(codes[row - 1] ?? 0, codes[row] ?? 0) > 0) return false;
  }
  return true;
}

function sortLongSlice(
  { at, codes, from, to }: Slice,
  compare: (code: number, other: number) => number,
): void {
  const moments = at.slice(from, to);
  const kept = codes.slice(from, to);
  const order = Uint32Array.from({ length: to - from }, (_, row) => row);
  order.sort(
    (a, b) => (moments[a] ?? 0) - (moments[b] ?? 0) || compare(kept[a] ?? 0, kept[b] ?? 0),
  );
  for (let row = 0; row < order.length; row += 1) {
    at[from + row] = moments[order[row] ?? 0] ?? 0;
    codes[from + row] = kept[order[row] ?? 0] ?? 0;
  }
}

/** Visits the sessions of a viewer. A session ends after this long without an event. */
export function forEachSession(
  { at, from, to }: ViewerEvents,
  timeoutMs: number,
  visit: (from: number, to: number) => void,
): void {
  let start = from;
  for (let row = from + 1; row <= to; row += 1) {
    if (row < to && (at[row] ?? 0) - (at[row - 1] ?? 0) <= timeoutMs) continue;
    visit(start, row);
    start = row;
  }
}
