/** Validates the form of a metric and builds the request. */
import type { api } from '../../api.ts';
import type { MetricConditions, Read } from '../../condition-rules.ts';
import { problemText } from '../../conditions.tsx';

type NewMetric = Parameters<typeof api.post<'/v1/metrics'>>[1]['body'];
type MetricType = NewMetric['type'];

export const types: { value: MetricType; label: string }[] = [
  { value: 'count', label: 'Events per participant' },
  { value: 'sum', label: 'Sum of a field per participant' },
  { value: 'share', label: 'Share of participants' },
  { value: 'mean', label: 'Mean of a field over events' },
  { value: 'ratio', label: 'Ratio of two counts or sums' },
];

/** Numbers as their fields hold them; an empty field is ''. */
export type MetricDraft = {
  name: string;
  type: MetricType;
  event: string;
  field: string;
  where: Read<MetricConditions>;
  denominator: string;
  denominatorField: string;
  denominatorWhere: Read<MetricConditions>;
  windowHours: number | string;
  cap: number | string;
  direction: 'increase' | 'decrease';
};

export const freshMetric: MetricDraft = {
  name: '',
  type: 'count',
  event: '',
  field: '',
  where: { value: [] },
  denominator: '',
  denominatorField: '',
  denominatorWhere: { value: [] },
  windowHours: '',
  cap: '',
  direction: 'increase',
};

/** Returns null if the definition is valid. */
export function problemOf(draft: MetricDraft): string | null {
  if (!/^[A-Za-z][A-Za-z0-9_]{0,63}$/.test(draft.name)) {
    return 'The name must consist of letters, digits and _, and start with a letter.';
  }
  if (draft.event.trim() === '') return 'The metric needs a kind of event.';
  const needsField = draft.type === 'sum' || draft.type === 'mean';
  if (needsField && draft.field.trim() === '') return 'The metric needs a field of data.';
  if (draft.type === 'ratio' && draft.denominator.trim() === '') {
    return 'A ratio needs a kind of event to be divided by.';
  }
  const read = [draft.where, ...(draft.type === 'ratio' ? [draft.denominatorWhere] : [])];
  const wrong = read.find((one) => 'problem' in one);
  return wrong === undefined ? null : problemText(wrong.problem);
}

const valueOf = (read: Read<MetricConditions>) => ('value' in read ? [...read.value] : []);

export function bodyOf(draft: MetricDraft): NewMetric {
  const { name, type, event, direction } = draft;
  const hasField = type !== 'count' && type !== 'share' && draft.field.trim() !== '';
  const where = valueOf(draft.where);
  const denominatorWhere = valueOf(draft.denominatorWhere);
  return {
    name,
    type,
    event: event.trim(),
    direction,
    ...(hasField && { field: draft.field.trim() }),
    ...(where.length > 0 && { where }),
    ...(type === 'ratio' && {
      denominator: {
        event: draft.denominator.trim(),
        ...(draft.denominatorField.trim() !== '' && { field: draft.denominatorField.trim() }),
        ...(denominatorWhere.length > 0 && { where: denominatorWhere }),
      },
    }),
    ...(draft.windowHours !== '' && { windowHours: Number(draft.windowHours) }),
    ...(draft.cap !== '' && type !== 'share' && { cap: Number(draft.cap) }),
  };
}
