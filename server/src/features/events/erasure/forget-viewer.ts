/** What erasing a viewer does to one event. */
import type { LoggedEvent } from '../logged-event.ts';
import { mapTexts } from './map-texts.ts';

/**
 * The event without a user id: null when it is the user's own, the same object when it does not name
 * the user. Anybody can write the id into an event of another viewer; there it is replaced wherever
 * it stands as a value of `data`, and left out as a device or session id.
 */
export function forgetUser(event: LoggedEvent, userId: string): LoggedEvent | null {
  if (event.userId === userId) return null;
  const replace = (text: string) => (text === userId ? placeholderFor(userId) : text);
  const data = mapTexts(event.data, replace) as LoggedEvent['data'];
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
