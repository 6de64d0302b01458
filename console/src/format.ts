/** Numbers and times formatted in the user's language. */
import { known, language } from './texts/texts.ts';

const numbers = new Intl.NumberFormat(language, { maximumFractionDigits: 0 });

export const whole = (value: number): string => numbers.format(value);

/**
 * Cached by number of digits: creating a formatter costs more than formatting a thousand numbers.
 */
const decimals = new Map<number, Intl.NumberFormat>();

export function fixed(value: number, digits: number): string {
  let format = decimals.get(digits);
  if (format === undefined) {
    format = new Intl.NumberFormat(language, {
      minimumFractionDigits: digits,
      maximumFractionDigits: digits,
      useGrouping: false,
    });
    decimals.set(digits, format);
  }
  return format.format(value);
}

export const percent = (value: number, digits = 1): string => `${fixed(value * 100, digits)} %`;

export function seconds(value: number): string {
  if (value < 120) return `${fixed(value, 1)} s`;
  return value < 7_200 ? `${fixed(value / 60, 1)} min` : `${fixed(value / 3_600, 1)} h`;
}

/** `0:07`, `1:02:03`. */
export function clock(value: number): string {
  const whole = Math.round(value);
  const [hours, minutes, rest] = [
    Math.floor(whole / 3_600),
    Math.floor(whole / 60) % 60,
    whole % 60,
  ];
  const two = (part: number) => String(part).padStart(2, '0');
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}

export function bytes(value: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  const power = Math.min(Math.floor(Math.log10(Math.max(value, 1)) / 3), units.length - 1);
  return `${fixed(value / 1_000 ** power, power === 0 ? 0 : 1)} ${units[power]}`;
}

/** Dates use the browser's locale if it has the same language. */
const locale = navigator.languages.find(isOfLanguage) ?? language;

/** Some systems give browsers invalid tags, such as `en-US@posix`. */
function isOfLanguage(tag: string): boolean {
  try {
    return new Intl.Locale(tag).language === language;
  } catch {
    return false;
  }
}
const moments = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' });

/** A date and time, with a line break allowed only between them. */
export const moment = (text: string | null | undefined): string =>
  text === null || text === undefined
    ? '–'
    : moments.format(new Date(text)).replaceAll(/\s(?!\d+:)/g, '\u00A0');

const days = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short', timeZone: 'UTC' });
const hours = new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit' });

/** A day in API format, or the start of an hour, as short as a chart needs. */
export const dayOrHour = (text: string): string =>
  text.length > 10 ? hours.format(new Date(text)) : days.format(new Date(`${text}T00:00:00Z`));

/** The value of a `datetime-local` field, in the browser's time zone. */
export function localTime(text: string | null): string {
  if (text === null) return '';
  const date = new Date(text);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** Converts the field's value to the API's format; null if it is empty. */
export const fromLocalTime = (text: string): string | null =>
  text === '' ? null : new Date(text).toISOString();

/** Converts `completionRate` to `Completion rate`, in the user's language. */
export function words(name: string): string {
  const spaced = name.replace(/[A-Z_]/g, (letter) => ` ${letter.replace('_', '').toLowerCase()}`);
  return known(spaced.charAt(0).toUpperCase() + spaced.slice(1));
}
