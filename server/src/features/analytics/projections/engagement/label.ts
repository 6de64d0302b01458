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

/** More than a pass brings, so that facts find the texts of all labels that are new in it. */
const maxRemembered = 150_000;
let hashes = new Map<string, Hash>();
let texts = new Map<Hash, string>();
let earlierTexts = texts;

/** The text that a hash stands for, if an event has told it to this process lately. */
export function textOfHash(hash: Hash): string | undefined {
  return texts.get(hash) ?? earlierTexts.get(hash);
}

/** The hash of the label that a value is counted under; '' for none. */
export function hashLabel(field: LabelField, value: string): Hash {
  return hashOf(labelOf(field, value));
}

function hashOf(label: string): Hash {
  if (label === '') return '';
  const known = hashes.get(label);
  if (known !== undefined) return known;
  const hash = hashText(label);
  if (hashes.size >= maxRemembered) {
    hashes = new Map();
    earlierTexts = texts;
    texts = new Map();
  }
  hashes.set(label, hash);
  texts.set(hash, label);
  return hash;
}

const maxMessageCharacters = 120;
const places: readonly (readonly [RegExp, string])[] = [
  [/\b[a-z][a-z\d+.-]*:\/\/\S+/gi, '<url>'],
  [/\S+@\S+/g, '<address>'],
  [/"[^"]*"|'[^']*'|`[^`]*`|“[^”]*”/g, '<text>'],
  // Ids, paths and numbers: words with a digit, and words that are too long for a language.
  [/[^\s()[\]{},;:=<>]*\d[^\s()[\]{},;:=<>]*/g, '<n>'],
  [/[\p{L}\p{N}_-]{25,}/gu, '<id>'],
];

/** What is equal in error messages of one kind: addresses, quoted texts, ids and numbers are left out. */
export function messageGroup(message: string): string {
  let group = message.slice(0, 500).toWellFormed().replaceAll('\u0000', '\ufffd');
  for (const [place, name] of places) group = group.replace(place, name);
  return group.replace(/\s+/g, ' ').trim().slice(0, maxMessageCharacters);
}

const maxMessages = 5_000;
let messages = new Map<string, Hash>();

export function hashMessage(message: string): Hash {
  const known = messages.get(message);
  // The text must be at hand as well, for the facts of other organizations.
  if (known !== undefined && textOfHash(known) !== undefined) return known;
  const hash = hashOf(messageGroup(message));
  if (messages.size >= maxMessages) messages = new Map();
  messages.set(message, hash);
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
