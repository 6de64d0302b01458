/** What erasing a viewer does to one event. */
import type { LoggedEvent } from '../logged-event.ts';

/**
 * The event without a user id: null when it is the user's own, the same object when it does not name
 * the user. Anybody can write the id into an event of another viewer; there it is replaced wherever
 * it stands as a value of `data`, and left out as a device or session id.
 */
export function forgetUser(event: LoggedEvent, userId: string): LoggedEvent | null {
  if (event.userId === userId) return null;
  const data = replaceText(event.data, userId, placeholderFor(userId)) as LoggedEvent['data'];
  const { deviceId, sessionId, ...rest } = event;
  if (data === event.data && deviceId !== userId && sessionId !== userId) return event;
  return {
    ...rest,
    ...(deviceId !== undefined && deviceId !== userId && { deviceId }),
    ...(sessionId !== undefined && sessionId !== userId && { sessionId }),
    data,
  };
}

/** A required field must stay text that is not empty, so the id is replaced and not removed. */
function placeholderFor(userId: string): string {
  return userId === 'erased' ? 'removed' : 'erased';
}

/** A copy with each text that equals `text` replaced; the same value when there is none. */
function replaceText(value: unknown, text: string, by: string): unknown {
  if (value === text) return by;
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value);
  const replaced = entries.map(([key, one]) => [key, replaceText(one, text, by)] as const);
  if (replaced.every(([, one], place) => one === entries[place]?.[1])) return value;
  return Array.isArray(value) ? replaced.map(([, one]) => one) : Object.fromEntries(replaced);
}
