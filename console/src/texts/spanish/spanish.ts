import type { German } from '../german/german.ts';
import { administration } from './administration.ts';
import { analytics } from './analytics.ts';
import { content } from './content.ts';
import { data } from './data.ts';
import { exports } from './exports.ts';
import { feed } from './feed.ts';
import { people } from './people.ts';
import { webhooks } from './webhooks.ts';
import { experiments } from './experiments.ts';
import { journeys } from './journeys.ts';
import { live } from './live.ts';
import { more } from './more.ts';
import { shell } from './shell.ts';

export const spanish: Readonly<Record<keyof German, string>> = {
  ...shell,
  ...content,
  ...analytics,
  ...administration,
  ...journeys,
  ...live,
  ...data,
  ...exports,
  ...feed,
  ...people,
  ...webhooks,
  ...experiments,
  ...more,
};
