import { rulesOf } from '../intake/event-rules.ts';
import { isFixed, isFixedValue } from '../labels.ts';
import type { LoggedEvent } from '../logged-event.ts';
import { mapTexts, replaceEntries, type TextChange } from './map-texts.ts';

export type ErasedId = {
  readonly userId: string;
  /** The id as a number, in case someone sent it as one; null if it is not numeric. */
  readonly number: number | null;
  /** Replaces the id in required fields, which must not become empty. */
  readonly placeholder: string;
  /** Replaces an event id, which must be unique. */
  readonly eventId: string;
};

export function erasedId(userId: string, eventId: string): ErasedId {
  return {
    userId,
    number: /^(?:0|-?[1-9]\d{0,19})$/.test(userId) ? Number(userId) : null,
    placeholder: userId === 'erased' ? 'removed' : 'erased',
    eventId,
  };
}

/** Whether JSON may contain the id, as text, as a key or as a number. */
export function mayName(json: string, { userId, number }: ErasedId): boolean {
  if (json.includes(JSON.stringify(userId))) return true;
  if (number === null) return false;
  const digits = JSON.stringify(number);
  for (let at = json.indexOf(digits); at >= 0; at = json.indexOf(digits, at + 1)) {
    if (isBoundary(json, at - 1) && isBoundary(json, at + digits.length)) return true;
  }
  return false;
}

function isBoundary(json: string, at: number): boolean {
  return ':,[]} '.includes(json.charAt(at));
}

/** JSON in which every value or key that equals the id is replaced by the placeholder. */
export function withoutId(value: unknown, id: ErasedId): unknown {
  return mapTexts(value, changeOf(id));
}

/**
 * The event without a user id: null if the event is the user's own, the same object if it does not
 * name the user. Anyone can put the id into an event of another viewer. There it is replaced
 * anywhere in `data`, as text, as a number or as a key, and dropped as the id of a device or a
 * session.
 *
 * Values that cannot name a viewer stay: measurements and flags of the kind, its field names, item
 * ids, and words of a fixed vocabulary, such as the entry point `feed`.
 */
export function forgetUser(event: LoggedEvent, id: ErasedId): LoggedEvent | null {
  const { userId } = id;
  if (event.userId === userId) return null;
  const data = forgetInData(event, id);
  const { eventId, deviceId, sessionId, appVersion, ...rest } = event;
  const isVersion = appVersion === userId && !isFixed('appVersion', userId);
  const isNamed = [eventId, deviceId, sessionId].includes(userId) || isVersion;
  if (data === event.data && !isNamed) return event;
  return {
    ...rest,
    eventId: eventId === userId ? id.eventId : eventId,
    ...(deviceId !== undefined && deviceId !== userId && { deviceId }),
    ...(sessionId !== undefined && sessionId !== userId && { sessionId }),
    ...(appVersion !== undefined && { appVersion: isVersion ? id.placeholder : appVersion }),
    data,
  };
}

function forgetInData({ event: kind, data }: LoggedEvent, id: ErasedId): LoggedEvent['data'] {
  const change = changeOf(id);
  const changed = Object.entries(data).map(([name, value]): [string, unknown] => {
    const isField = rulesOf(kind).some((rule) => rule.name === name);
    if (!isField) return [change.text(name), mapTexts(value, change)];
    const stays =
      typeof value !== 'string' || name === 'fromContentId' || isFixedValue(name, value);
    return [name, stays ? value : change.text(value)];
  });
  return replaceEntries(data, changed) as LoggedEvent['data'];
}

function changeOf({ userId, number, placeholder }: ErasedId): TextChange {
  return {
    text: (text) => (text === userId ? placeholder : text),
    number: (found) => (found === number ? placeholder : found),
  };
}
