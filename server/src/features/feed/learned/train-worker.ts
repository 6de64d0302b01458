/** Worker thread: receives an organization's items and events, and returns a model. */
import { answerMessages } from '../../../platform/async/worker-thread.ts';
import type { LoggedEvent } from '../../events/events.ts';
import type { IndexedItem } from '../items/index-queries.ts';
import { OrganizationIndex } from '../items/organization-index.ts';
import type { RankingConfig } from '../ranking/config.ts';
import { FeedReplay } from './replay.ts';
import { train, type Training } from './train.ts';

/** Items first, then the configuration, then events in order. */
export type TrainInput =
  | { readonly items: readonly IndexedItem[] }
  | { readonly config: RankingConfig }
  | { readonly events: readonly LoggedEvent[] }
  | 'train';

/** Null acknowledges an input. */
export type TrainOutput = Training | null;

const items: IndexedItem[] = [];
let replay: FeedReplay | null = null;
let weights: RankingConfig['weights'] | null = null;

answerMessages((input: TrainInput): TrainOutput => {
  if (input === 'train') {
    return replay === null || weights === null ? null : train(replay.impressions, weights);
  }
  if ('items' in input) {
    for (const item of input.items) items.push(item);
  } else if ('config' in input) {
    ({ weights } = input.config);
    replay = new FeedReplay(new OrganizationIndex(items), input.config.recencyHalfLifeHours);
  } else {
    replay?.add(input.events);
  }
  return null;
});
