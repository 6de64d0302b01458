/**
 * Where a view came from and the version of its app, as views and facts know them: by hashes of labels,
 * which have a fixed size.
 */
import { entryPoints, labelOf, otherLabel, type LabelField } from '../../../events/events.ts';
import { hashText, type Hash } from '../../statistics/viewer-key.ts';

/**
 * Where an event says that its viewer came from; undefined where it does not. Whoever names a page of the
 * feed and no entry point came by the feed.
 */
export function entryPointOf({ entryPoint, feedId }: EventData): string | undefined {
  if (typeof entryPoint === 'string') return entryPoint;
  return typeof feedId === 'string' ? 'feed' : undefined;
}

type EventData = { readonly entryPoint?: unknown; readonly feedId?: unknown };

const maxRemembered = 5_000;
const hashes = new Map<string, Hash>();

/** The hash of the label that a value is counted under; '' for none. */
export function hashLabel(field: LabelField, value: string): Hash {
  const label = labelOf(field, value);
  if (label === '') return '';
  let hash = hashes.get(label);
  if (hash === undefined) {
    hash = hashText(label);
    if (hashes.size >= maxRemembered) hashes.clear();
    hashes.set(label, hash);
  }
  return hash;
}

const textsOfEntryPoints = new Map<Hash, string>([
  ['', ''],
  ...entryPoints.map((label): [Hash, string] => [hashText(label), label]),
]);

/** A text as earlier versions made it a label: cut, in a form that PostgreSQL can store. */
export function earlierLabel(text: string): string {
  return text.slice(0, 64).toWellFormed().replaceAll('\u0000', '\ufffd');
}

/** The entry point that a hash stands for. Facts of earlier versions may have others. */
export function entryPointOfHash(hash: Hash): string {
  return textsOfEntryPoints.get(hash) ?? otherLabel;
}
