/** Escapes an expression for a filter chain, where a plain comma would end the filter. */
export function escaped(expression: string): string {
  return expression.replaceAll(',', '\\,');
}
