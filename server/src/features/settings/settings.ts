/**
 * Settings and flags that clients read: the base values, which experiments and rollouts override.
 * This file is the interface for other features.
 *
 * Every change to what viewers are given increments the organization's configuration version in the
 * same transaction, so that processes notice that their in-memory views are outdated.
 */
export {
  listConfigurationVersions,
  lockConfiguration,
  readBaseValues,
  upsertValue,
  type BaseValue,
} from './queries.ts';
export type { SettingKind } from './tables.ts';

/** Hint that the configuration of viewers has changed. Give it after the commit. */
export const configurationChanged = 'configuration-changed';

/** A setting's key: segments of letters, digits, `_` and `-`, separated by dots. */
export const keyPattern = '^[A-Za-z0-9_-]+(\\.[A-Za-z0-9_-]+)*$';
export const maxKeyCharacters = 200;

const keyForm = new RegExp(keyPattern);

export function isSettingKey(text: string): boolean {
  return text.length <= maxKeyCharacters && keyForm.test(text);
}

/** The problem with the value of a setting or flag, or null. */
export function problemOfValue(kind: 'setting' | 'flag', value: unknown): string | null {
  if (kind === 'setting') {
    const isScalar = ['string', 'number', 'boolean'].includes(typeof value);
    if (!isScalar) return 'must be a string, a number or a boolean';
  }
  return JSON.stringify(value).length > maxValueCharacters
    ? `must have at most ${maxValueCharacters} characters as JSON`
    : null;
}

const maxValueCharacters = 8_192;
