/**
 * The projection `quality`: playback quality and traffic sources, counted by labels that clients
 * send. Each event counts by itself, so there is no state. Only known labels count under their own
 * name; see `labelOf`. For open label sets, only the first 200 labels of a measure on a day do.
 * This is the only place where the order of events can matter, and only for organizations that
 * exceed that number.
 */
import { dayMs, hourMs } from '../../../../platform/values/time.ts';
import type { ZoneClock } from '../../../../platform/values/zone-clock.ts';
import type { Tx } from '../../../../platform/database/database.ts';
import {
  isFixed,
  labelOf,
  otherLabel,
  type EventBlock,
  type LabelField,
  type LoggedEvent,
} from '../../../events/events.ts';
import { getOrMake } from '../../../../platform/values/maps.ts';
import { entryPointOf } from '../engagement/label.ts';
import { wholeMilliseconds } from '../engagement/view-state.ts';
import type { ProjectionWriter } from '../../../../platform/projections/projection.ts';
import type { EventProjection } from '../../../events/events.ts';
import { ClockedBlocks } from '../clocked-blocks.ts';
import { RecentMap } from '../../statistics/recent-map.ts';
import { startupBucket } from '../../statistics/startup-histogram.ts';
import { expireHours, keepOldPeriods } from '../table-queries.ts';
import {
  addQuality,
  forgetLabel,
  selectLabels,
  type LabelKey,
  type QualityRow,
} from './quality-queries.ts';

export const quality: EventProjection = {
  name: 'quality',
  tables: ['quality_counter'],
  createWriter: () => new QualityWriter(),
  maxDuty: 1,
  // Earlier versions accepted any text as a label, including a user's id.
  async eraseViewer(tx, viewer) {
    let removed = 0;
    for (const [measure, field] of Object.entries(labelFields)) {
      if (!isFixed(field, viewer.userId)) removed += await forgetLabel(tx, viewer, measure);
    }
    return removed;
  },
  purgeItems: 'no items',
  expire: [expireHours('quality_counter')],
  rebuild: {
    from: 'log',
    keepOld: (tx, schema, firstDayMs) =>
      keepOldPeriods(tx, { schema, tables: ['quality_counter'], firstDayMs }),
  },
};

const maxLabels = 200;

/** Label rules by measure; `startup` has buckets instead. */
const labelFields = {
  rendition: 'rendition',
  codec: 'codec',
  watching: 'rendition',
  rebuffer: 'rendition',
  switch: 'rendition',
  error: 'errorCode',
  source: 'entryPoint',
} as const satisfies Record<string, LabelField>;
type Measure = keyof typeof labelFields;

type Tally = { count: number; total: number };
/** The counts of one hour: tallies by measure and label. */
type HourPass = Map<string, Map<string, Tally>>;

class QualityWriter implements ProjectionWriter<LoggedEvent> {
  readonly #blocks = new ClockedBlocks((block, clock) => this.#collect(block, clock));
  #pass = new Map<string, Map<number, HourPass>>();
  /** The labels of a measure on a day. */
  readonly #labels = new RecentMap<Set<string>>(5_000);

  collect(blocks: readonly EventBlock[]): void {
    this.#blocks.add(blocks);
  }

  #collect({ organizationId, events }: EventBlock, clock: ZoneClock): void {
    const hours = getOrMake(this.#pass, organizationId, () => new Map<number, HourPass>());
    for (const event of events) collectEvent(hours, event, clock.localOf(event.at));
  }

  async write(tx: Tx): Promise<void> {
    await this.#blocks.settle(tx);
    const collected = [...rowsOf(this.#pass)];
    this.#pass = new Map();
    await this.#loadLabels(tx, collected);
    const rows = new Map<string, QualityRow>();
    for (const row of collected) {
      const label = row.measure === 'startup' ? row.label : this.#admit(row);
      const day = row.periodMs - (row.periodMs % dayMs);
      addRow(rows, { ...row, label });
      addRow(rows, { ...row, label, grain: 'day', periodMs: day });
    }
    await addQuality(tx, [...rows.values()]);
  }

  forget(): void {
    this.#blocks.forget();
    this.#pass = new Map();
    this.#labels.clear();
  }

  async #loadLabels(tx: Tx, rows: readonly QualityRow[]): Promise<void> {
    const missing = new Map<string, LabelKey>();
    for (const row of rows) {
      const name = labelsName(row);
      if (row.measure !== 'startup' && this.#labels.get(name) === undefined) {
        missing.set(name, { ...row, periodMs: row.periodMs - (row.periodMs % dayMs) });
      }
    }
    for (const name of missing.keys()) this.#labels.set(name, new Set());
    if (missing.size === 0) return;
    const found = await selectLabels(tx, [...missing.values()]);
    for (const row of found) this.#labels.get(labelsName(row))?.add(row.label);
  }

  #admit(row: QualityRow): string {
    const labels = this.#labels.get(labelsName(row));
    if (row.label === otherLabel || labels === undefined || labels.has(row.label)) return row.label;
    if (labels.size >= maxLabels) return otherLabel;
    labels.add(row.label);
    return row.label;
  }
}

/** @param at local time of the event, by the organization's clock */
function collectEvent(
  hours: Map<number, HourPass>,
  { event: kind, data }: LoggedEvent,
  at: number,
): void {
  switch (kind) {
    case 'playStart': {
      const startupMs = wholeMilliseconds(data['startupTime']);
      add(hours, at, {
        measure: 'startup',
        label: String(startupBucket(startupMs)),
        total: startupMs,
      });
      count(hours, at, 'rendition', data['rendition'], startupMs);
      count(hours, at, 'codec', data['codec'], startupMs);
      break;
    }
    case 'watchProgress':
      count(hours, at, 'watching', data['rendition'], 0);
      break;
    case 'rebuffer':
      count(hours, at, 'rebuffer', data['rendition'], wholeMilliseconds(data['duration']));
      break;
    case 'qualityChange':
      count(hours, at, 'switch', data['toQuality'], 0);
      break;
    case 'error':
      count(hours, at, 'error', data['errorCode'], 0);
      break;
    case 'impression':
      count(hours, at, 'source', entryPointOf(data), 0);
      break;
    // Other kinds say nothing about quality or sources.
    default:
  }
}

function count(
  hours: Map<number, HourPass>,
  at: number,
  measure: Measure,
  value: unknown,
  total: number,
): void {
  add(hours, at, { measure, label: labelOf(labelFields[measure], value), total });
}

function add(
  hours: Map<number, HourPass>,
  at: number,
  { measure, label, total }: { measure: string; label: string; total: number },
): void {
  const hour = getOrMake(hours, at - (at % hourMs), () => new Map<string, Map<string, Tally>>());
  const labels = getOrMake(hour, measure, () => new Map<string, Tally>());
  const tally = getOrMake(labels, label, newTally);
  tally.count += 1;
  tally.total += total;
}

function newTally(): Tally {
  return { count: 0, total: 0 };
}

function* rowsOf(pass: Map<string, Map<number, HourPass>>): Generator<QualityRow> {
  for (const [organizationId, hours] of pass) {
    for (const [periodMs, measures] of hours) {
      for (const [measure, labels] of measures) {
        const row = { organizationId, grain: 'hour', periodMs, measure } as const;
        for (const [label, tally] of labels) yield { ...row, label, ...tally };
      }
    }
  }
}

function addRow(rows: Map<string, QualityRow>, row: QualityRow): void {
  const { organizationId, grain, periodMs, measure, label } = row;
  const key = `${organizationId} ${grain} ${periodMs} ${measure} ${label}`;
  const found = rows.get(key);
  if (found === undefined) rows.set(key, { ...row });
  else {
    found.count += row.count;
    found.total += row.total;
  }
}

function labelsName({ organizationId, periodMs, measure }: LabelKey): string {
  return `${organizationId} ${periodMs - (periodMs % dayMs)} ${measure}`;
}
