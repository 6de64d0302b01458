/** The form of an alert and its request. */
import type { api } from '../../api.ts';
import { words } from '../../format.ts';
import type { Schemas } from '../../data.ts';

export type Alert = Schemas['Alert'];
export type NewAlert = Parameters<typeof api.post<'/v1/analytics/alerts'>>[1]['body'];

const metrics = {
  overview: [
    'impressions',
    'plays',
    'views',
    'completions',
    'likes',
    'shares',
    'saves',
    'totalWatchTime',
    'averageWatchTime',
    'completionRate',
    'hookRate',
    'swipeAwayRate',
  ],
  quality: [
    'errorRate',
    'rebufferRatio',
    'failuresBeforeStart',
    'exitsBeforeStart',
    'startupTime.p50',
    'startupTime.p75',
    'startupTime.p95',
  ],
  engagement: ['sessions', 'averageSessionLength', 'averageVideosPerSession'],
};

/** Choices such as `quality/errorRate`: a report and one of its metrics. */
export const metricChoices = Object.entries(metrics).map(([report, names]) => ({
  group: words(report),
  items: names.map((name) => ({ value: `${report}/${name}`, label: metricLabel(name) })),
}));

export function metricLabel(name: string): string {
  const [metric = '', percentile] = name.split('.');
  return percentile === undefined ? words(metric) : `${words(metric)} (${percentile})`;
}

export const conditionChoices = [
  { value: 'both', label: 'Unusual for the hour' },
  { value: 'bandAbove', label: 'Unusually high for the hour' },
  { value: 'bandBelow', label: 'Unusually low for the hour' },
  { value: 'above', label: 'Above a threshold' },
  { value: 'below', label: 'Below a threshold' },
];

/** Numbers as their fields hold them; an empty field is ''. */
export type AlertDraft = {
  name: string;
  metric: string;
  condition: string;
  threshold: number | string;
  device: string | null;
  appVersion: string;
  minData: number | string;
};

export const freshAlert: AlertDraft = {
  name: '',
  metric: 'quality/errorRate',
  condition: 'bandAbove',
  threshold: '',
  device: null,
  appVersion: '',
  minData: 100,
};

export const hasThreshold = ({ condition }: AlertDraft): boolean =>
  condition === 'above' || condition === 'below';

/** Returns null if the rule is valid. */
export function problemOf(draft: AlertDraft): string | null {
  if (hasThreshold(draft) && typeof draft.threshold !== 'number') return 'A threshold is required.';
  return typeof draft.minData === 'number' ? null : 'A minimum of data is required.';
}

export function ruleOf(draft: AlertDraft): Omit<NewAlert, 'name'> {
  const [report, metric = ''] = draft.metric.split('/');
  const device = draft.device as 'ios' | 'android' | 'web' | null;
  return {
    report: report as NewAlert['report'],
    metric,
    filter: {
      ...(device !== null && { device }),
      ...(draft.appVersion !== '' && { appVersion: draft.appVersion }),
    },
    condition: conditionOf(draft),
    minData: Number(draft.minData),
  };
}

function conditionOf({ condition, threshold }: AlertDraft): NewAlert['condition'] {
  if (condition === 'above' || condition === 'below') {
    return { type: condition, threshold: Number(threshold) };
  }
  const directions = { bandAbove: 'above', bandBelow: 'below' } as const;
  const direction = directions[condition as keyof typeof directions] ?? 'both';
  return { type: 'band', direction };
}

export function describeCondition({ condition }: Alert): string {
  if (condition.type !== 'band') return `${condition.type} ${condition.threshold}`;
  const { direction, weeks } = condition;
  const side = direction === 'both' ? 'outside' : direction;
  return `${side} the band of ${weeks} weeks`;
}

export function describeFilter({ filter }: Alert): string {
  return Object.entries(filter)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');
}

type Measured = { value: number | null; low: number | null; high: number | null };

export function describeLast({ last }: { last: Measured | null }): string {
  if (last === null || last.value === null) return '–';
  const value = short(last.value);
  if (last.low === null && last.high === null) return value;
  const bounds = [last.low, last.high].map((bound) => (bound === null ? '' : short(bound)));
  return `${value} (${bounds.join(' to ').trim()})`;
}

const short = (value: number): string => String(Number(value.toPrecision(4)));
