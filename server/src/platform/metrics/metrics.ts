/**
 * Metrics in the Prometheus text format 0.0.4, in process memory. `prom-client` stores and writes
 * them; this adds typed labels, naming rules, limits and timeouts. Names carry their base unit
 * (`_seconds`, `_bytes`) and counters end in `_total`. Labels are for properties with few values
 * (route, outcome, queue), never for ids. The number of series per metric is limited nevertheless:
 * once the limit is reached, new label sets share one series whose labels are all `other`.
 */
import type { Logger } from 'pino';
import {
  Counter as StoredCounter,
  Gauge as StoredGauge,
  Histogram as StoredHistogram,
  Registry,
} from 'prom-client';

/** The value of every label, or nothing for a metric without labels. */
type Labels<L extends string> = [L] extends [never] ? [] : [labels: Readonly<Record<L, string>>];

export type Counter<L extends string> = { add(amount: number, ...labels: Labels<L>): void };
export type Gauge<L extends string> = { set(value: number, ...labels: Labels<L>): void };
export type Histogram<L extends string> = { observe(value: number, ...labels: Labels<L>): void };

export type MetricOptions<L extends string> = {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly L[];
  /** Default 1,000. Further label sets become `other`. */
  readonly maxSeries?: number;
};

export type HistogramOptions<L extends string> = MetricOptions<L> & {
  /** Upper bounds, ascending, without infinity. Default: 5 ms to 10 s, in seconds. */
  readonly buckets?: readonly number[];
};

/** One value collected at scrape time. */
export type Reading<L extends string> = {
  readonly value: number;
  readonly labels: Readonly<Record<L, string>>;
};

export type CollectedOptions<L extends string> = MetricOptions<L> & {
  readonly type: 'gauge' | 'counter';
  /**
   * Called at each scrape. Returns a number for a metric without labels, otherwise readings. If it
   * throws or takes over two seconds, this is logged and the metric is left out of that scrape.
   */
  readonly collect: (signal: AbortSignal) => Collected<L> | Promise<Collected<L>>;
};

type Collected<L extends string> = number | Iterable<Reading<L>>;

export const metricsContentType = Registry.PROMETHEUS_CONTENT_TYPE;

const defaultBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const defaultMaxSeries = 1_000;
const collectTimeoutMs = 2_000;

export function createMetrics(log: Logger): Metrics {
  return new Metrics(log);
}

/**
 * A registry. Defining a metric throws if its name is taken or invalid. A metric with too many
 * label sets is logged once.
 */
class Metrics {
  readonly #registry = new Registry();
  readonly #log: Logger;

  constructor(log: Logger) {
    this.#log = log;
  }

  counter<const L extends string = never>(options: MetricOptions<L>): Counter<L> {
    const { definition, bound } = this.#define(options, 'counter');
    const stored = new StoredCounter(definition);
    return {
      add(amount, ...[labels]) {
        if (!(amount >= 0)) throw new RangeError(`${options.name} can't fall: ${amount}`);
        stored.inc(bound(labels), amount);
      },
    };
  }

  gauge<const L extends string = never>(options: MetricOptions<L>): Gauge<L> {
    const { definition, bound } = this.#define(options, 'gauge');
    const stored = new StoredGauge(definition);
    return { set: (value, ...[labels]) => stored.set(bound(labels), value) };
  }

  histogram<const L extends string = never>(options: HistogramOptions<L>): Histogram<L> {
    const buckets = [...(options.buckets ?? defaultBuckets)];
    if (buckets.some((limit, index) => !(limit > (buckets[index - 1] ?? -Infinity)))) {
      throw new Error(`bucket bounds must ascend: ${buckets.join(', ')}`);
    }
    const { definition, bound } = this.#define(options, 'histogram');
    const stored = new StoredHistogram({ ...definition, buckets });
    return {
      observe(value, ...[labels]) {
        // A single NaN would make the sum NaN forever.
        if (!Number.isNaN(value)) stored.observe(bound(labels), value);
      },
    };
  }

  /** Defines a metric whose values are collected at scrape time. */
  collected<const L extends string = never>(options: CollectedOptions<L>): void {
    const { definition, bound } = this.#define(options, options.type);
    const log = this.#log;
    // Counters use a gauge, too, because a collected value is the total, not an increment.
    const stored = new StoredGauge({
      ...definition,
      async collect() {
        this.reset();
        // Otherwise a metric without labels would report 0 if it could not be collected.
        this.remove({});
        try {
          const found = await inTime(options.collect);
          if (typeof found === 'number') this.set(found);
          else for (const { labels, value } of found) this.inc(bound(labels), value);
        } catch (error) {
          this.reset();
          this.remove({});
          log.warn({ err: error, metric: options.name }, 'could not collect a metric');
        }
      },
    });
    Object.assign(stored, { type: options.type });
  }

  /** The body of `GET /metrics`, of the type `metricsContentType`. Never rejects. */
  expose(): Promise<string> {
    return this.#registry.metrics();
  }

  #define<L extends string>(options: MetricOptions<L>, type: 'counter' | 'gauge' | 'histogram') {
    const { name, help, labels = [], maxSeries = defaultMaxSeries } = options;
    checkNames(name, labels, type);
    const labelNames: string[] = [...labels];
    if (this.#registry.getSingleMetric(name)) throw new Error(`metric already exists: ${name}`);
    let warned = false;
    const onOverflow = (): void => {
      if (!warned) this.#log.warn({ metric: name, maxSeries }, 'metric has too many label sets');
      warned = true;
    };
    return {
      definition: { name, help, labelNames, registers: [this.#registry] },
      bound: boundLabels(labels, maxSeries, onOverflow),
    };
  }
}

export type { Metrics };

type LabelSet = Record<string, string>;

/**
 * Returns a function that keeps the first `maxSeries` label sets and maps all others to `other`.
 */
function boundLabels(
  names: readonly string[],
  maxSeries: number,
  onOverflow: () => void,
): (labels: Readonly<LabelSet> | undefined) => LabelSet {
  const known = new Map<string, LabelSet>();
  const other = Object.fromEntries(names.map((name) => [name, 'other']));
  return (labels = {}) => {
    let key = '';
    for (const name of names) key += `${labels[name] ?? ''}\0`;
    const found = known.get(key);
    if (found !== undefined) return found;
    if (known.size >= maxSeries) {
      onOverflow();
      return other;
    }
    const set = Object.fromEntries(names.map((name) => [name, labels[name] ?? '']));
    known.set(key, set);
    return set;
  };
}

function checkNames(name: string, labels: readonly string[], type: string): void {
  const valid = /^[a-z][a-z0-9_]*$/;
  if (!valid.test(name)) throw new Error(`invalid metric name: ${name}`);
  const unfit = labels.find((label) => !valid.test(label) || label === 'le');
  if (unfit !== undefined) throw new Error(`invalid label name for ${name}: ${unfit}`);
  if ((type === 'counter') !== name.endsWith('_total')) {
    throw new Error(`counters, and only counters, must end in _total: ${name}`);
  }
}

/** A scrape must end even if a database that a collector queries does not respond. */
function inTime<T>(collect: (signal: AbortSignal) => T | Promise<T>): Promise<T> {
  const controller = new AbortController();
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const timer = setTimeout(() => {
    controller.abort();
    reject(new Error(`took more than ${collectTimeoutMs} ms`));
  }, collectTimeoutMs);
  // Called inside a promise, so that a synchronous throw of a collector becomes a rejection too.
  Promise.resolve()
    .then(() => collect(controller.signal))
    .then(resolve, reject);
  return promise.finally(() => clearTimeout(timer));
}
