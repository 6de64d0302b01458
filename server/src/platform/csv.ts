/** CSV as RFC 4180 has it: fields by commas, lines by CR LF, quotes where a field needs them. */
export function csvLine(fields: readonly string[]): string {
  return fields.map(csvField).join(',');
}

function csvField(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
