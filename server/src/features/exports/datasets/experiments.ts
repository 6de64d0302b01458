/** Experiments, one row per variant. */
import { listVariantsForExport } from '../../experiments/experiments.ts';
import { momentsOf, rowOf, type Column, type DatasetReader } from './dataset.ts';

const columns: readonly Column[] = [
  { name: 'experimentId', type: 'string', about: 'The experiment.' },
  { name: 'name', type: 'string', about: 'Its name.' },
  { name: 'type', type: 'string', about: '`ranking`, `config` or `feature`.' },
  { name: 'status', type: 'string', about: '`draft`, `running`, `completed` or `stopped`.' },
  { name: 'traffic', type: 'number', about: 'The share of viewers that participates.' },
  { name: 'primaryMetric', type: 'string', about: 'The primary metric.' },
  { name: 'createdAt', type: 'timestamp', about: 'When it was created.' },
  { name: 'startedAt', type: 'timestamp', about: 'When it was started.' },
  { name: 'endedAt', type: 'timestamp', about: 'When it ended.' },
  { name: 'winner', type: 'string', about: 'The id of the winning variant.' },
  { name: 'variantId', type: 'string', about: 'The variant.' },
  { name: 'variantName', type: 'string', about: 'Its name.' },
  { name: 'isControl', type: 'boolean', about: 'Whether it is the control.' },
  { name: 'variantTraffic', type: 'number', about: 'Its share of the experiment.' },
  { name: 'viewers', type: 'integer', about: 'Exposed viewers that count in the results.' },
  { name: 'returned', type: 'integer', about: 'Participants who returned on a later day.' },
  { name: 'plays', type: 'integer', about: 'Plays of the participants since exposure.' },
  { name: 'completions', type: 'integer', about: 'Completed plays of the participants.' },
  { name: 'watchTime', type: 'number', about: 'Seconds.' },
  { name: 'sessions', type: 'integer', about: 'Their sessions.' },
];

const experimentsAtOnce = 100;

export const experiments: DatasetReader = {
  about: 'Experiments by creation day, with one row of totals per variant.',
  columns,
  filters: [],
  namesViewers: false,
  async *read({ db }, range, from, signal) {
    for (let after = (from?.['after'] ?? null) as string | null; ;) {
      signal.throwIfAborted();
      const page = { after, limit: experimentsAtOnce };
      const found: Awaited<ReturnType<typeof listVariantsForExport>> = await listVariantsForExport(
        db,
        range.organizationId,
        momentsOf(range),
        page,
      );
      const { rows, last } = found;
      if (last === null) return;
      after = last;
      yield { rows: rows.map((row) => rowOf(columns, row)), next: { after }, share: 0.5 };
    }
  },
};
