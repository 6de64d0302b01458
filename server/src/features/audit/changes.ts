import { mayHoldBadText } from '../../platform/http/text-rules.ts';

const maxBytes = 4_096;

/** Serializes a value as JSON. Returns null if it can't be stored. */
export function toChanges(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  try {
    const json = JSON.stringify(value);
    // PostgreSQL can't store NUL or lone surrogates; failed items of a bulk request may contain
    // them.
    return Buffer.byteLength(json) > maxBytes || mayHoldBadText(json) ? null : json;
  } catch (error) {
    // Nested deeper than the call stack allows.
    if (error instanceof RangeError) return null;
    throw error;
  }
}
