/** The trimmed text of a field; empty if it is missing. */
export function formText(form: HTMLFormElement, name: string): string {
  const value = new FormData(form).get(name);
  return typeof value === 'string' ? value.trim() : '';
}

/** A password exactly as typed: surrounding space is part of it. */
export function formPassword(form: HTMLFormElement, name = 'password'): string {
  const value = new FormData(form).get(name);
  return typeof value === 'string' ? value : '';
}
