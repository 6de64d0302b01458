/**
 * CSV according to RFC 4180: fields separated by commas, lines by CR LF, quotes only where needed.
 */

/**
 * Text may come from users, so it is escaped. Numbers and booleans are ours and written unchanged.
 */
export type CsvValue = string | number | boolean | null;

export function csvLine(fields: readonly CsvValue[]): string {
  return fields.map(csvField).join(',');
}

function csvField(value: CsvValue): string {
  if (value === null) return '';
  const text = typeof value === 'string' ? withoutFormula(value) : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * Prefixes that spreadsheets interpret as a formula, including full-width signs
 * (https://owasp.org/www-community/attacks/CSV_Injection). Also matches leading apostrophes, so
 * that removing one apostrophe from every match restores the original text.
 */
const formula = /^'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;

/** Escapes text so that a spreadsheet shows it instead of calculating it. */
function withoutFormula(text: string): string {
  return formula.test(text) ? `'${text}` : text;
}

/** Whether an `Accept` header asks for CSV. */
export function wantsCsv(accept: string | undefined): boolean {
  return (accept ?? '').split(',').some((type) => /^\s*text\/csv\s*(;|$)/i.test(type));
}
