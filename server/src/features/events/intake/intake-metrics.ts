import type { Metrics } from '../../../platform/metrics/metrics.ts';
import type { EventProblem } from './event-problem.ts';
import type { FlushReport } from './group-commit.ts';
import type { EngagementLog } from '../engagement-log.ts';
import { isCustomKind } from '../custom-kinds.ts';
import type { LoggedEvent } from '../logged-event.ts';
import { isEventKind } from './event-rules.ts';

export type IntakeObserver = {
  flushed(report: FlushReport): void;
  rejected(problem: EventProblem, kind: string): void;
};

/** Counts events by kind and outcome, and the size and duration of flushes. */
export function observeIntake(metrics: Metrics): IntakeObserver {
  const events = metrics.counter({
    name: 'events_total',
    help: 'Engagement events by kind and outcome: stored, duplicate, or the reason for rejection.',
    labels: ['event', 'outcome'],
  });
  const size = metrics.histogram({
    name: 'event_flush_events',
    help: 'Events per flush to the log.',
    buckets: [1, 10, 30, 100, 300, 1_000, 2_000, 3_000, 4_000, 5_000],
  });
  const duration = metrics.histogram({
    name: 'event_flush_duration_seconds',
    help: 'Duration of a flush from its start to its commit.',
    labels: ['outcome'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30],
  });
  return {
    flushed({ drafts, added, durationMs }) {
      duration.observe(durationMs / 1_000, { outcome: added === null ? 'failed' : 'stored' });
      if (added === null) return;
      size.observe(drafts.reduce((sum, draft) => sum + draft.events.length, 0));
      const stored = new Map<string, number>();
      for (const [index, draft] of drafts.entries()) {
        for (const { event } of draft.events) count(stored, labelOfKind(event), 1);
        for (const place of added[index]?.leftOut ?? []) {
          const event = draft.events[place]?.event;
          if (event === undefined) continue;
          count(stored, labelOfKind(event), -1);
          events.add(1, { event: labelOfKind(event), outcome: 'duplicate' });
        }
      }
      for (const [event, amount] of stored) events.add(amount, { event, outcome: 'stored' });
    },
    rejected(problem, kind) {
      // Client-supplied event names must not become label values.
      const event = isEventKind(kind) ? kind : labelOfUnknown(kind);
      events.add(1, { event, outcome: problem.code.toLowerCase() });
    },
  };
}

function labelOfKind(kind: LoggedEvent['event']): string {
  return isCustomKind(kind) ? 'custom' : kind;
}

function labelOfUnknown(kind: string): string {
  return isCustomKind(kind) ? 'custom' : 'unknown';
}

function count(counts: Map<string, number>, event: string, by: number): void {
  counts.set(event, (counts.get(event) ?? 0) + by);
}

/** Metrics read at scrape time: the queue of this process, and the size of the ledger. */
export function collectIntakeMetrics(
  metrics: Metrics,
  parts: {
    eventLog: Pick<EngagementLog, 'measureLedger'>;
    depth: () => { events: number; bytes: number; flushes: number };
  },
): void {
  metrics.collected({
    type: 'gauge',
    name: 'event_queue_depth',
    help: 'Accepted events in this process waiting for a flush.',
    collect: () => parts.depth().events,
  });
  metrics.collected({
    type: 'gauge',
    name: 'event_flushes_under_way',
    help: 'Flushes to the log by this process.',
    collect: () => parts.depth().flushes,
  });
  metrics.collected({
    type: 'gauge',
    name: 'event_ledger_bytes',
    help: 'Size of each generation of the deduplication ledger.',
    labels: ['generation'],
    collect: async () =>
      (await parts.eventLog.measureLedger()).map(({ generation, bytes }) => ({
        labels: { generation },
        value: bytes,
      })),
  });
}
