/**
 * Metrics in the Prometheus text format 0.0.4, in process memory. Names carry their base unit
 * (`_seconds`, `_bytes`) and counters end in `_total`. Labels are for what has few values (route,
 * outcome, queue); ids never are labels. A metric keeps a bounded number of series all the same:
 * what comes after that is counted in one series whose labels all say `other`.
 */
import type { Logger } from 'pino';
import {
  createSeries,
  distribution,
  escapeHelp,
  single,
  type Cell,
  type Series,
} from './metrics-series.ts';

/** The value of every label, or nothing for a metric that has none. */
type Labels<L extends string> = [L] extends [never] ? [] : [labels: Readonly<Record<L, string>>];

export type Counter<L extends string> = { add(amount: number, ...labels: Labels<L>): void };
export type Gauge<L extends string> = { set(value: number, ...labels: Labels<L>): void };
export type Histogram<L extends string> = { observe(value: number, ...labels: Labels<L>): void };

export type MetricOptions<L extends string> = {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly L[];
  /** Most label sets; further ones become `other`. Default 1,000. */
  readonly maxSeries?: number;
};

export type HistogramOptions<L extends string> = MetricOptions<L> & {
  /** Upper bounds, ascending, without infinity. Default: 5 ms to 10 s for a time in seconds. */
  readonly buckets?: readonly number[];
};

/** One value found at scrape time. */
export type Reading<L extends string> = {
  readonly value: number;
  readonly labels: Readonly<Record<L, string>>;
};

export type CollectedOptions<L extends string> = MetricOptions<L> & {
  readonly type: 'gauge' | 'counter';
  /**
   * Called at each scrape. A number where there are no labels, else readings. What throws, or
   * takes over two seconds, is left out of that scrape and logged.
   */
  readonly collect: (signal: AbortSignal) => Collected<L> | Promise<Collected<L>>;
};

type Collected<L extends string> = number | Iterable<Reading<L>>;

export const metricsContentType = 'text/plain; version=0.0.4; charset=utf-8';

const defaultBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const defaultMaxSeries = 1_000;
const collectTimeoutMs = 2_000;

/** Opens an empty registry. */
export function createMetrics(log: Logger): Metrics {
  return new Metrics(log);
}

/**
 * A registry. Defining a metric throws when its name is taken or isn't a valid one. The log hears
 * once of each metric that has too many label sets.
 */
class Metrics {
  /** Writes the lines of each metric, by the metric's name. */
  readonly #writers = new Map<string, () => Promise<string[]>>();
  readonly #log: Logger;

  constructor(log: Logger) {
    this.#log = log;
  }

  counter<const L extends string = never>(options: MetricOptions<L>): Counter<L> {
    const { open, expose } = this.#register(options, 'counter', single);
    const series = open();
    expose(() => series.lines());
    return {
      add(amount, ...labels) {
        if (!(amount >= 0)) throw new RangeError(`${options.name} can't fall: ${amount}`);
        series.cell(labels).value += amount;
      },
    };
  }

  gauge<const L extends string = never>(options: MetricOptions<L>): Gauge<L> {
    const { open, expose } = this.#register(options, 'gauge', single);
    const series = open();
    expose(() => series.lines());
    return {
      set(value, ...labels) {
        series.cell(labels).value = value;
      },
    };
  }

  histogram<const L extends string = never>(options: HistogramOptions<L>): Histogram<L> {
    const createCell = distribution(options.buckets ?? defaultBuckets);
    const { open, expose } = this.#register(options, 'histogram', createCell);
    const series = open();
    expose(() => series.lines());
    return { observe: (value, ...labels) => series.cell(labels).observe(value) };
  }

  /** Defines a metric whose values are found when it is scraped. */
  collected<const L extends string = never>(options: CollectedOptions<L>): void {
    const { open, expose } = this.#register(options, options.type, single);
    expose(async () => {
      try {
        const found = await inTime(options.collect);
        const series = open();
        if (typeof found === 'number') series.cell([]).value = found;
        else for (const { labels, value } of found) series.cell([labels]).value += value;
        return series.lines();
      } catch (error) {
        this.#log.warn({ err: error, metric: options.name }, 'metric could not be collected');
        return [];
      }
    });
  }

  /** The body of `GET /metrics`, of the type `metricsContentType`. Never rejects. */
  async expose(): Promise<string> {
    const parts = await Promise.all([...this.#writers.values()].map((write) => write()));
    return `${parts.flat().join('\n')}\n`;
  }

  #register<L extends string, C extends Cell>(
    options: MetricOptions<L>,
    type: 'counter' | 'gauge' | 'histogram',
    createCell: () => C,
  ): Family<C> {
    const { name, labels = [], maxSeries = defaultMaxSeries } = options;
    checkNames(name, labels, type);
    if (this.#writers.has(name)) throw new Error(`metric exists already: ${name}`);
    let warned = false;
    const onOverflow = (): void => {
      if (!warned) this.#log.warn({ metric: name, maxSeries }, 'metric has too many label sets');
      warned = true;
    };
    const open = (): Series<C> => createSeries({ name, labels, maxSeries, createCell, onOverflow });
    const help = [`# HELP ${name} ${escapeHelp(options.help)}`, `# TYPE ${name} ${type}`];
    const expose = (write: () => string[] | Promise<string[]>): void => {
      this.#writers.set(name, async () => [...help, ...(await write())]);
    };
    return { open, expose };
  }
}

export type { Metrics };

type Family<C extends Cell> = {
  readonly open: () => Series<C>;
  readonly expose: (write: () => string[] | Promise<string[]>) => void;
};

function checkNames(name: string, labels: readonly string[], type: string): void {
  const valid = /^[a-z][a-z0-9_]*$/;
  if (!valid.test(name)) throw new Error(`no name for a metric: ${name}`);
  const unfit = labels.find((label) => !valid.test(label) || label === 'le');
  if (unfit !== undefined) throw new Error(`no name for a label of ${name}: ${unfit}`);
  if ((type === 'counter') !== name.endsWith('_total')) {
    throw new Error(`counters end in _total, and nothing else does: ${name}`);
  }
}

/** A scrape must end even when a database that a collector asks doesn't answer. */
function inTime<T>(collect: (signal: AbortSignal) => T | Promise<T>): Promise<T> {
  const controller = new AbortController();
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const timer = setTimeout(() => {
    controller.abort();
    reject(new Error(`took over ${collectTimeoutMs} ms`));
  }, collectTimeoutMs);
  // Called inside a promise, so that a collector that throws at once is a rejection too.
  Promise.resolve()
    .then(() => collect(controller.signal))
    .then(resolve, reject);
  return promise.finally(() => clearTimeout(timer));
}
