import type { Dataset } from '../tables.ts';
import { analytics } from './analytics.ts';
import { content } from './content.ts';
import type { DatasetReader } from './dataset.ts';
import { events } from './events.ts';
import { experiments } from './experiments.ts';
import { viewers } from './viewers.ts';
import { webhooks } from './webhooks.ts';

export const datasetReaders: Readonly<Record<Dataset, DatasetReader>> = {
  events,
  viewers,
  content,
  analytics,
  experiments,
  webhooks,
};
