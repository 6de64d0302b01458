import { mayHoldBadText } from '../../platform/http/text-rules.ts';

const maxBytes = 4_096;

/** Serializes a value as JSON. Null when it can't be stored. */
export function toChanges(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  try {
    const json = JSON.stringify(value);
    // PostgreSQL stores no NUL and no half characters; a bulk request may hold them in items that fail.
    return Buffer.byteLength(json) > maxBytes || mayHoldBadText(json) ? null : json;
  } catch (error) {
    // Nested deeper than the call stack.
    if (error instanceof RangeError) return null;
    throw error;
  }
}
