/** Experiments, one row per variant. */
import { listVariantsForExport } from '../../experiments/experiments.ts';
import { momentsOf, rowOf, type Column, type DatasetReader } from './dataset.ts';

const columns: readonly Column[] = [
  { name: 'experimentId', type: 'string', about: 'The experiment.' },
  { name: 'name', type: 'string', about: 'The name of the experiment.' },
  { name: 'type', type: 'string', about: '`ranking`, `config` or `feature`.' },
  { name: 'status', type: 'string', about: '`draft`, `running`, `completed` or `stopped`.' },
  { name: 'traffic', type: 'number', about: 'The share of viewers who take part.' },
  { name: 'primaryMetric', type: 'string', about: 'The metric that decides.' },
  { name: 'createdAt', type: 'timestamp', about: 'When it was created.' },
  { name: 'startedAt', type: 'timestamp', about: 'When it was started.' },
  { name: 'endedAt', type: 'timestamp', about: 'When it ended.' },
  { name: 'winner', type: 'string', about: 'The id of the winning variant.' },
  { name: 'variantId', type: 'string', about: 'The variant.' },
  { name: 'variantName', type: 'string', about: 'The name of the variant.' },
  { name: 'isControl', type: 'boolean', about: 'Whether the variant is the control.' },
  {
    name: 'variantTraffic',
    type: 'number',
    about: 'The share of participants who get the variant.',
  },
  { name: 'viewers', type: 'integer', about: 'Participants who count.' },
  {
    name: 'returned',
    type: 'integer',
    about: 'Participants who came back 24 to 48 hours after the exposure.',
  },
  { name: 'plays', type: 'integer', about: 'Plays since the exposure.' },
  { name: 'completions', type: 'integer', about: 'Completions since the exposure.' },
  { name: 'watchTime', type: 'number', about: 'Seconds watched since the exposure.' },
  { name: 'sessions', type: 'integer', about: 'Sessions since the exposure.' },
];

const experimentsAtOnce = 100;

export const experiments: DatasetReader = {
  about: 'Experiments by the day of their creation: one row per variant, with its totals.',
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
