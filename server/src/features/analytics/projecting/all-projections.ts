import { engagement } from '../engagement/engagement.ts';
import { live } from '../live/live.ts';
import { quality } from '../quality/quality.ts';
import { retention } from '../retention/retention.ts';
import { viewers } from '../viewers/viewers.ts';
import type { Projection } from './projection.ts';

/** Every projection of the event log. */
export const allProjections: readonly Projection[] = [
  engagement,
  quality,
  retention,
  viewers,
  live,
];
