export type TextChange = {
  /** Applied to each text: string values and object keys. */
  readonly text: (text: string) => string;
  readonly number?: (number: number) => unknown;
};

/**
 * A copy of JSON data with each text, number and key mapped, or the same value if nothing changed.
 */
export function mapTexts(value: unknown, change: TextChange): unknown {
  if (typeof value === 'string') return change.text(value);
  if (typeof value === 'number') return change.number?.(value) ?? value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const changed = value.map((one) => mapTexts(one, change));
    return changed.every((one, place) => one === value[place]) ? value : changed;
  }
  const entries = Object.entries(value);
  const changed = entries.map(
    ([key, one]) => [change.text(key), mapTexts(one, change)] as [string, unknown],
  );
  return replaceEntries(value, changed);
}

/** The object with these entries in their original order, or the same object if nothing changed. */
export function replaceEntries(value: object, changed: readonly [string, unknown][]): object {
  const before = Object.entries(value);
  const isSame = changed.every(
    ([key, one], place) => key === before[place]?.[0] && one === before[place][1],
  );
  if (isSame) return value;
  const entries = new Map<string, unknown>();
  for (const [key, one] of changed) {
    let name = key;
    while (entries.has(name)) name += '_';
    entries.set(name, one);
  }
  return Object.fromEntries(entries);
}
