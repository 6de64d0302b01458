import type { Backlog } from '../event-log/event-log.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { readBacklogs, type BacklogParts } from './backlog.ts';
import type { PassReport } from './projector.ts';

/**
 * Counts the passes of projections, and measures on each scrape how far they are behind the log.
 */
export function observeProjections(
  metrics: Metrics,
  parts: BacklogParts,
): (report: PassReport) => void {
  const passes = metrics.counter({
    name: 'projection_passes_total',
    help: 'Projection passes over the event log by outcome.',
    labels: ['projection', 'outcome'],
  });
  const events = metrics.counter({
    name: 'projection_events_total',
    help: 'Events processed by projections of this process.',
    labels: ['projection'],
  });
  const duration = metrics.histogram({
    name: 'projection_pass_duration_seconds',
    help: 'Duration of writing a projection pass.',
    labels: ['projection'],
  });
  collectBacklogs(metrics, parts);
  return ({ projection, outcome, events: count, durationMs }) => {
    passes.add(1, { projection, outcome });
    if (outcome !== 'written') return;
    events.add(count, { projection });
    duration.observe(durationMs / 1_000, { projection });
  };
}

function collectBacklogs(metrics: Metrics, parts: BacklogParts): void {
  const collect = (figure: (backlog: Backlog) => number) => async () => {
    const backlogs = await readBacklogs(parts);
    return Array.from(backlogs, ([projection, backlog]) => ({
      labels: { projection },
      value: figure(backlog),
    }));
  };
  metrics.collected({
    type: 'gauge',
    name: 'projection_lag_seconds',
    help: 'Age of the oldest event log block not yet processed by a projection.',
    labels: ['projection'],
    collect: collect(({ ageMs }) => ageMs / 1_000),
  });
  metrics.collected({
    type: 'gauge',
    name: 'projection_lag_blocks',
    help: 'Event log blocks not yet processed by a projection, at most 10,000.',
    labels: ['projection'],
    collect: collect(({ blocks }) => blocks),
  });
}
