/**
 * Every place in the API that accepts text that could contain a viewer's id, for the erasure test.
 */
import { eventKinds } from '../src/features/events/events.ts';
import { sampleData, sampleEvent } from './event-samples.ts';

export type PlantedEvent = { readonly place: string; readonly event: Record<string, unknown> };

/** Fields of another viewer's event that can contain the id. */
const fields = ['deviceId', 'sessionId', 'eventId', 'appVersion'] as const;

/** Events of someone else: each field of each kind, and client-defined additions. */
export function eventsOfOthers(contentId: string, id: string): PlantedEvent[] {
  const asNumber = Number.isSafeInteger(Number(id)) ? Number(id) : id;
  const planted: PlantedEvent[] = fields.map((field) => ({
    place: field,
    event: sampleEvent('save', contentId, { userId: `bob-${field}`, [field]: id }),
  }));
  for (const kind of eventKinds) {
    const plant = (place: string, data: Record<string, unknown>) => {
      const event = sampleEvent(kind, contentId, { userId: 'bob' });
      const all = { ...(event['data'] as object), ...data };
      planted.push({ place: `${kind}: ${place}`, event: { ...event, data: all } });
    };
    for (const [name, value] of Object.entries(sampleData[kind])) {
      // The scope of a refusal is an enum, so other values are rejected.
      if (typeof value === 'string' && name !== 'scope') plant(name, { [name]: id });
    }
    plant('a value', { user: id });
    plant('a number', { user_id: asNumber });
    plant('a key', { seen: { [id]: true } });
    plant('a key of data', { [id]: 1 });
    plant('an array', { users: ['bob', id, [asNumber]] });
    plant('deep inside', { a: { b: [{ c: { d: { [id]: [id, asNumber] } } }] } });
    plant('viewId', { viewId: id });
  }
  return planted;
}

/** The viewer's own events. */
export function ownEvents(contentIds: readonly string[], id: string): PlantedEvent[] {
  const own = contentIds.flatMap((contentId) =>
    eventKinds.map((kind) => ({
      place: `own ${kind}`,
      event: sampleEvent(kind, contentId, { userId: id }),
    })),
  );
  const [contentId = ''] = contentIds;
  const nobody = { userId: undefined, deviceId: undefined, sessionId: undefined };
  return [
    ...own,
    {
      place: 'deviceId alone',
      event: sampleEvent('playStart', contentId, { ...nobody, deviceId: id }),
    },
    {
      place: 'sessionId alone',
      event: sampleEvent('playStart', contentId, { ...nobody, sessionId: id }),
    },
  ];
}

/** Rejected events, which are kept for a while as samples. */
export function refusedEvents(contentId: string, id: string): PlantedEvent[] {
  return [
    { place: 'refused: userId', event: sampleEvent('like', 'no-such-item', { userId: id }) },
    { place: 'refused: contentId', event: sampleEvent('like', id, { userId: 'bob' }) },
    { place: 'refused: event', event: { event: id, contentId, userId: 'bob' } },
    { place: 'refused: eventId', event: sampleEvent('like', 'no-such-item', { eventId: id }) },
  ];
}
