/** A copy of JSON with each text changed; the same value when none is. */
export function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value);
  const changed = entries.map(([key, one]) => [key, mapTexts(one, change)] as const);
  if (changed.every(([, one], place) => one === entries[place]?.[1])) return value;
  return Array.isArray(value) ? changed.map(([, one]) => one) : Object.fromEntries(changed);
}
