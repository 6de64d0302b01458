/** The series of one metric, how many there may be, and how they are written. */

/** What one series holds. Each sample is a suffix of the name, an `le` bound or null, a value. */
export type Cell = { samples(): Iterable<readonly [string, number | null, number]> };

export type SeriesOptions<C extends Cell> = {
  readonly name: string;
  readonly labels: readonly string[];
  readonly maxSeries: number;
  readonly createCell: () => C;
  /** Called for each value that found no series of its own. */
  readonly onOverflow: () => void;
};

export interface Series<C extends Cell> {
  /** The cell of a label set, given as a list of one or, for a metric without labels, none. */
  cell(labels: readonly Readonly<Record<string, string>>[]): C;
  lines(): string[];
}

/** A cell with one number, for counters and gauges. */
export function single(): Cell & { value: number } {
  return {
    value: 0,
    samples() {
      return [['', null, this.value]];
    },
  };
}

/** Makes cells that count values by upper bound. Throws when the bounds don't ascend. */
export function distribution(
  bounds: readonly number[],
): () => Cell & { observe(value: number): void } {
  if (bounds.some((bound, index) => !(bound > (bounds[index - 1] ?? -Infinity)))) {
    throw new Error(`bucket bounds must ascend: ${bounds.join(', ')}`);
  }
  return () => {
    /** Not cumulative, so that an observation touches one number; the last is above all bounds. */
    const counts = new Float64Array(bounds.length + 1);
    let sum = 0;
    return {
      observe(value) {
        // One NaN would make the sum NaN for good.
        if (Number.isNaN(value)) return;
        const index = bounds.findIndex((bound) => value <= bound);
        const slot = index === -1 ? bounds.length : index;
        counts[slot] = (counts[slot] ?? 0) + 1;
        sum += value;
      },
      *samples() {
        let total = 0;
        for (const [index, count] of counts.entries()) {
          total += count;
          yield ['_bucket', bounds[index] ?? Infinity, total];
        }
        yield ['_sum', null, sum];
        yield ['_count', null, total];
      },
    };
  };
}

export function createSeries<C extends Cell>(options: SeriesOptions<C>): Series<C> {
  const { name, labels, maxSeries, createCell, onOverflow } = options;
  const cells = new Map<string, { readonly labelText: string; readonly cell: C }>();

  const add = (key: string, values: readonly string[]): C => {
    const pairs = labels.map((label, index) => `${label}="${escapeLabel(values[index] ?? '')}"`);
    const cell = createCell();
    cells.set(key, { labelText: pairs.join(','), cell });
    return cell;
  };
  // A metric without labels is there from the start, so that a rate over its first event exists.
  if (labels.length === 0) add('', []);

  return {
    cell([set]) {
      let key = '';
      for (const [index, label] of labels.entries()) {
        if (index > 0) key += '\0';
        key += set?.[label] ?? '';
      }
      const known = cells.get(key);
      if (known !== undefined) return known.cell;
      const values = labels.map((label) => set?.[label] ?? '');
      if (cells.size < maxSeries) return add(key, values);
      onOverflow();
      return cells.get('\0other')?.cell ?? add('\0other', values.fill('other'));
    },

    lines() {
      return [...cells.values()].flatMap(({ labelText, cell }) =>
        Array.from(cell.samples(), ([suffix, bound, value]) => {
          const le = bound === null ? [] : [`le="${formatNumber(bound)}"`];
          const all = [...(labelText === '' ? [] : [labelText]), ...le].join(',');
          return `${name}${suffix}${all === '' ? '' : `{${all}}`} ${formatNumber(value)}`;
        }),
      );
    },
  };
}

export function escapeHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

function escapeLabel(text: string): string {
  return escapeHelp(text).replaceAll('"', '\\"');
}

function formatNumber(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
}
