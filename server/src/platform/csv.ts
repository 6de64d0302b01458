/** CSV as RFC 4180 has it: fields by commas, lines by CR LF, quotes where a field needs them. */

/** A text may come from anybody; a number or a boolean is ours, and written as it is. */
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
 * What spreadsheets take for a formula, full-width signs included (https://owasp.org/www-community/attacks/CSV_Injection).
 * With apostrophes in front, because then one apostrophe can be taken from each such text to undo it.
 */
const formula = /^'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;

/** A text that a spreadsheet shows and does not calculate. */
function withoutFormula(text: string): string {
  return formula.test(text) ? `'${text}` : text;
}

/** Whether an `Accept` header asks for CSV. */
export function wantsCsv(accept: string | undefined): boolean {
  return (accept ?? '').split(',').some((type) => /^\s*text\/csv\s*(;|$)/i.test(type));
}
