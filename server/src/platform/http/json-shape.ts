/**
 * Limits the structure of a JSON text in one pass over its bytes, before it is parsed. Size alone
 * does not limit the cost of a body: for a mebibyte of keys or brackets, the parser and everything
 * that traverses the value afterwards take ten times longer than for a mebibyte of text.
 *
 * Numbers that a double can't represent are rejected as well, because the parser changes them
 * silently: `1e400` to infinity, which is stored as null, and `12345678901234567890` to another
 * integer.
 *
 * The text need not be valid; invalid JSON is left to the parser.
 */

export const maxDepth = 64;
export const maxKeys = 10_000;
/** Objects and arrays together. */
export const maxContainers = 10_000;
/**
 * Integers of more than 15 digits and numbers near the limits of a double, which are slow to check.
 */
const maxLargeNumbers = 1_000;

/** An integer with this many digits is always exact. */
const exactDigits = 15;
/** With fewer digits before the decimal point, exponent included, a number is always in range. */
const rangeDigits = 308;
const maxShownCharacters = 40;

const quote = 0x22;
const plus = 0x2b;
const minus = 0x2d;
const point = 0x2e;
const zero = 0x30;
const nine = 0x39;
const colon = 0x3a;
const backslash = 0x5c;
const smallE = 0x65;
/**
 * This bit turns upper-case letters into lower-case letters, and square brackets into curly ones.
 */
const caseBit = 0x20;
const openingBrace = 0x7b;
const closingBrace = 0x7d;

/**
 * Returns the problem as the predicate of a sentence about the text, or null. Callers that check
 * numbers one by one turn off `checksNumbers`.
 */
export function problemOfJson(bytes: Uint8Array, checksNumbers = true): string | null {
  let depth = 0;
  let keys = 0;
  let containers = 0;
  let largeNumbers = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === quote) {
      at = endOfString(bytes, at);
    } else if (byte === colon) {
      keys += 1;
      if (keys > maxKeys) return `has more than ${maxKeys} keys`;
    } else if ((byte | caseBit) === openingBrace) {
      depth += 1;
      containers += 1;
      if (depth > maxDepth) return `is nested deeper than ${maxDepth} levels`;
      if (containers > maxContainers) return `has more than ${maxContainers} objects and lists`;
    } else if ((byte | caseBit) === closingBrace) {
      depth -= 1;
    } else if (checksNumbers && byte >= zero && byte <= nine) {
      const number = readNumber(bytes, at);
      if (number.isLarge) {
        const problem = problemOfNumber(bytes.subarray(at, number.end));
        if (problem !== null) return problem;
        largeNumbers += 1;
        if (largeNumbers > maxLargeNumbers) return `has more than ${maxLargeNumbers} large numbers`;
      }
      at = number.end - 1;
    }
  }
  return null;
}

/** The index of the closing quote of the string that begins at `start`. */
function endOfString(bytes: Uint8Array, start: number): number {
  let at = start + 1;
  while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1;
  return at;
}

/**
 * Reads a number without its sign. A large number may be out of range, or an integer that gets
 * rounded.
 */
function readNumber(bytes: Uint8Array, start: number): { end: number; isLarge: boolean } {
  let end = endOfDigits(bytes, start);
  const digits = end - start;
  const isInteger = bytes[end] !== point;
  if (!isInteger) end = endOfDigits(bytes, end + 1);
  if (((bytes[end] ?? 0) | caseBit) !== smallE) {
    return { end, isLarge: digits > (isInteger ? exactDigits : rangeDigits) };
  }
  const sign = bytes[end + 1];
  const exponentAt = end + (sign === plus || sign === minus ? 2 : 1);
  end = endOfDigits(bytes, exponentAt);
  if (sign === minus) return { end, isLarge: digits > rangeDigits };
  let exponent = 0;
  for (let at = exponentAt; at < end && exponent <= rangeDigits; at += 1) {
    exponent = exponent * 10 + (bytes[at] ?? 0) - zero;
  }
  return { end, isLarge: digits + exponent > rangeDigits };
}

function endOfDigits(bytes: Uint8Array, start: number): number {
  let at = start;
  for (let byte = bytes[at] ?? 0; byte >= zero && byte <= nine; byte = bytes[at] ?? 0) at += 1;
  return at;
}

function problemOfNumber(bytes: Uint8Array): string | null {
  const text = Buffer.from(bytes).toString('latin1');
  const value = Number(text);
  const shown = text.length > maxShownCharacters ? `${text.slice(0, maxShownCharacters)}…` : text;
  if (value === Infinity) return `contains the number ${shown}, which is out of range`;
  return isRounded(text, value)
    ? `contains the integer ${shown}, which would be rounded: send it as a string`
    : null;
}

/** Rounding of fractions is expected, but an integer may be an id. */
function isRounded(text: string, value: number): boolean {
  if (Number.isSafeInteger(value) || !/^[1-9]\d+$/.test(text)) return false;
  // JavaScript prints only the significant digits and pads with zeros; other languages print all
  // digits.
  return String(value) !== text && BigInt(value) !== BigInt(text);
}
