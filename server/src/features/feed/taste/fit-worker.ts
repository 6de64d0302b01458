/** Worker thread: receives the encounters of viewers and returns the parts of a model. */
import { answerMessages } from '../../../platform/async/worker-thread.ts';
import { factorize } from './factorize.ts';
import { encodeParts } from './item-vectors.ts';
import { WatchCollector } from './watches.ts';

/** Stored encounters of viewers, one element per viewer; null ends the input. */
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
    // Without any direction, no item needs a record.
    parts: factors.found === 0 ? [] : parts,
    mean: factors.mean,
    spread: factors.spread,
    viewers: watches.starts.length - 1,
    watches: watches.items.length,
    directions: factors.found,
  };
});
