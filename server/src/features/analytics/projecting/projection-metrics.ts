import type { Db } from '../../../platform/database/database.ts';
import type { Metrics } from '../../../platform/metrics.ts';
import { measureBacklog, startOfLog, type Backlog } from '../../events/events.ts';
import type { PassReport } from './projector.ts';
import { readProjections } from './queries.ts';

/** Counts passes of projections, and measures at each scrape how far they are behind the log. */
export function observeProjections(metrics: Metrics, db: Db): (report: PassReport) => void {
  const passes = metrics.counter({
    name: 'projection_passes_total',
    help: 'Passes of projections over the event log by outcome.',
    labels: ['projection', 'outcome'],
  });
  const events = metrics.counter({
    name: 'projection_events_total',
    help: 'Events that projections of this process have taken.',
    labels: ['projection'],
  });
  const duration = metrics.histogram({
    name: 'projection_pass_duration_seconds',
    help: 'Time that it took to write a pass of a projection.',
    labels: ['projection'],
  });
  collectBacklogs(metrics, db);
  return ({ projection, outcome, events: count, durationMs }) => {
    passes.add(1, { projection, outcome });
    if (outcome !== 'written') return;
    events.add(count, { projection });
    duration.observe(durationMs / 1_000, { projection });
  };
}

function collectBacklogs(metrics: Metrics, db: Db): void {
  const collect = (figure: (backlog: Backlog) => number) => async () => {
    const projections = await readProjections(db);
    return Promise.all(
      projections.map(async ({ name, position }) => ({
        labels: { projection: name },
        value: figure(await measureBacklog(db, position ?? startOfLog)),
      })),
    );
  };
  metrics.collected({
    type: 'gauge',
    name: 'projection_lag_seconds',
    help: 'Age of the oldest block of the event log that a projection has not taken.',
    labels: ['projection'],
    collect: collect(({ ageMs }) => ageMs / 1_000),
  });
  metrics.collected({
    type: 'gauge',
    name: 'projection_lag_blocks',
    help: 'Blocks of the event log that a projection has not taken, 10,000 at most.',
    labels: ['projection'],
    collect: collect(({ blocks }) => blocks),
  });
}
