/** The text of a field, without surrounding space; empty where there is none. */
export function formText(form: HTMLFormElement, name: string): string {
  const value = new FormData(form).get(name);
  return typeof value === 'string' ? value.trim() : '';
}

/** A password exactly as it was typed: space around it belongs to it. */
export function formPassword(form: HTMLFormElement, name = 'password'): string {
  const value = new FormData(form).get(name);
  return typeof value === 'string' ? value : '';
}
