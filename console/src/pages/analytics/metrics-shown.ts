/** The overview's metrics, with names and formats. */
import type { Answer } from '../../data.ts';
import { percent, seconds, whole } from '../../format.ts';
import { t } from '../../texts/texts.ts';

export type Overview = Answer<'get', '/v1/analytics/overview'>['data'];
export type Metric = keyof Overview['summary'];

export type ShownMetric = {
  name: Metric;
  label: string;
  format: (value: number) => string;
  /** Whether an increase is bad. */
  isBadWhenUp?: boolean;
};

export const shownMetrics: readonly ShownMetric[] = [
  { name: 'plays', label: t('Plays'), format: whole },
  { name: 'uniqueViewers', label: t('Viewers'), format: whole },
  { name: 'totalWatchTime', label: t('Watch time'), format: seconds },
  { name: 'completionRate', label: t('Completion'), format: percent },
  { name: 'engagementRate', label: t('Engagement'), format: percent },
  { name: 'sessions', label: t('Sessions'), format: whole },
  { name: 'impressions', label: t('Impressions'), format: whole },
  { name: 'hookRate', label: t('Hooked'), format: percent },
  { name: 'swipeAwayRate', label: t('Swiped away'), format: percent, isBadWhenUp: true },
  { name: 'likes', label: t('Likes'), format: whole },
  { name: 'shares', label: t('Shares'), format: whole },
  { name: 'saves', label: t('Saves'), format: whole },
];

/** Metrics on the overview's cards. */
export const mainMetrics = shownMetrics.slice(0, 6);

export const metricOf = (name: string | undefined): ShownMetric =>
  shownMetrics.find((each) => each.name === name) ?? (shownMetrics[0] as ShownMetric);
