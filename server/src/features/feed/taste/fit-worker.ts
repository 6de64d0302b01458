/** Runs in a thread of its own: takes the encounters of viewers, and answers with the parts of a model. */
import { answerMessages } from '../../../platform/worker-thread.ts';
import { factorize } from './factorize.ts';
import { encodeParts } from './item-vectors.ts';
import { WatchCollector } from './watches.ts';

/** Encounters of viewers, each as it is stored; null: there are no more. */
export type FitInput = readonly Uint8Array[] | null;

export type FitOutput =
  | { readonly isFull: boolean }
  | {
      readonly parts: readonly Uint8Array[];
      readonly mean: number;
      readonly spread: number;
      readonly viewers: number;
      readonly watches: number;
      readonly directions: number;
    };

const collector = new WatchCollector();

answerMessages((input: FitInput): FitOutput => {
  if (input !== null) {
    for (const bytes of input) {
      if (collector.isFull) break;
      collector.add(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    }
    return { isFull: collector.isFull };
  }
  const { watches, viewersOf } = collector.gather();
  const factors = factorize(watches);
  const parts = encodeParts(factors, watches.serialNumbers, viewersOf);
  return {
    // Without a direction there is nothing to tell of any item.
    parts: factors.found === 0 ? [] : parts,
    mean: factors.mean,
    spread: factors.spread,
    viewers: watches.starts.length - 1,
    watches: watches.items.length,
    directions: factors.found,
  };
});
