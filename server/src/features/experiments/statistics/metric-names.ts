/** The built-in metrics. Custom metrics are defined by organizations and identified by name. */
export const metricNames = ['completionRate', 'watchTime', 'sessionsPerUser', 'retention'] as const;
export type BuiltInMetric = (typeof metricNames)[number];

export function isBuiltIn(metric: string): metric is BuiltInMetric {
  return (metricNames as readonly string[]).includes(metric);
}
