/**
 * Labels such as entry points and app versions, which views and facts store as hashes of fixed
 * size.
 */
import { entryPoints, labelOf, otherLabel, type LabelField } from '../../../events/events.ts';
import { hashText, type Hash } from '../../statistics/viewer-key.ts';

/**
 * The entry point that an event reports, or undefined if none. A feed page without an entry point
 * implies `feed`.
 */
export function entryPointOf({ entryPoint, feedId }: EventData): string | undefined {
  if (typeof entryPoint === 'string') return entryPoint;
  return typeof feedId === 'string' ? 'feed' : undefined;
}

type EventData = { readonly entryPoint?: unknown; readonly feedId?: unknown };

/** More than a pass contains, so that facts find the texts of all labels that are new in it. */
const maxRemembered = 150_000;
let hashes = new Map<string, Hash>();
let texts = new Map<Hash, string>();
let earlierTexts = texts;

/** The text of a hash, if this process has seen it recently. */
export function textOfHash(hash: Hash): string | undefined {
  return texts.get(hash) ?? earlierTexts.get(hash);
}

/** The hash of the label under which a value is counted; '' for none. */
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
  // Ids, paths and numbers: words with a digit, and words too long for natural language.
  [/[^\s()[\]{},;:=<>]*\d[^\s()[\]{},;:=<>]*/g, '<n>'],
  [/[\p{L}\p{N}_-]{25,}/gu, '<id>'],
];

/**
 * Normalizes an error message so that messages of one kind are equal: replaces addresses, quoted
 * texts, ids and numbers.
 */
export function messageGroup(message: string): string {
  let group = message.slice(0, 500).toWellFormed().replaceAll('\u0000', '\ufffd');
  for (const [place, name] of places) group = group.replace(place, name);
  return group.replace(/\s+/g, ' ').trim().slice(0, maxMessageCharacters);
}

const maxMessages = 5_000;
let messages = new Map<string, Hash>();

export function hashMessage(message: string): Hash {
  const known = messages.get(message);
  // The text must be available too, for the facts of other organizations.
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

/** A label as earlier versions stored it: truncated, and storable in PostgreSQL. */
export function earlierLabel(text: string): string {
  return text.slice(0, 64).toWellFormed().replaceAll('\u0000', '\ufffd');
}

/** The entry point of a hash. Facts of earlier versions may contain others. */
export function entryPointOfHash(hash: Hash): string {
  return textsOfEntryPoints.get(hash) ?? otherLabel;
}
