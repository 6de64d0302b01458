import { defineErrors } from '../../platform/http/errors.ts';

export const metricErrors = defineErrors({
  METRIC_IN_USE: { status: 409, message: 'An experiment uses the metric.' },
});
