/**
 * Labels that clients make up, such as entry points and versions of apps. Views and facts know them by
 * hashes, which have a fixed size; `fact_label` keeps their texts.
 */
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

export const maxLabelCharacters = 64;
const maxRemembered = 5_000;
const hashes = new Map<string, Hash>();
const texts = new Map<Hash, string>();

export function hashLabel(label: string): Hash {
  const known = hashes.get(label);
  if (known !== undefined) return known;
  const text = labelText(label);
  const hash = hashText(text);
  if (hashes.size >= maxRemembered) {
    hashes.clear();
    texts.clear();
  }
  hashes.set(label, hash);
  texts.set(hash, text);
  return hash;
}

/** The text of a label that this process has hashed lately. */
export function recentLabel(hash: Hash): string | undefined {
  return texts.get(hash);
}

/** A label cut to its maximum length, in a form that PostgreSQL can store. */
function labelText(label: string): string {
  return label.slice(0, maxLabelCharacters).toWellFormed().replaceAll('\u0000', '\ufffd');
}
