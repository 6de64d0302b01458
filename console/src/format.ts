/** Numbers and times as people read them. */
export const whole = (value: number): string => Math.round(value).toLocaleString('en');

export const percent = (value: number, digits = 1): string => `${(value * 100).toFixed(digits)} %`;

export function seconds(value: number): string {
  if (value < 120) return `${value.toFixed(1)} s`;
  return value < 7_200 ? `${(value / 60).toFixed(1)} min` : `${(value / 3_600).toFixed(1)} h`;
}

export function bytes(value: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  const power = Math.min(Math.floor(Math.log10(Math.max(value, 1)) / 3), units.length - 1);
  return `${(value / 1_000 ** power).toFixed(power === 0 ? 0 : 1)} ${units[power]}`;
}

/** Made once: a formatter costs more than a thousand formatted moments. */
const moments = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

/** A date and a time; a line breaks between them at the most. */
export const moment = (text: string | null | undefined): string =>
  text === null || text === undefined
    ? '–'
    : moments.format(new Date(text)).replaceAll(/\s(?!\d+:)/g, '\u00A0');

/** The value of a `datetime-local` field, in the time zone of the browser. */
export function localTime(text: string | null): string {
  if (text === null) return '';
  const date = new Date(text);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** What such a field says, as the API takes it; null where it is empty. */
export const fromLocalTime = (text: string): string | null =>
  text === '' ? null : new Date(text).toISOString();

/** `completionRate` as `Completion rate`. */
export function words(name: string): string {
  const spaced = name.replace(/[A-Z_]/g, (letter) => ` ${letter.replace('_', '').toLowerCase()}`);
  return spaced.charAt(0).toUpperCase() + spaced.slice(1);
}
