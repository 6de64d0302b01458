/**
 * Converts events from the form that a client sends to the form that the log stores, one at a time,
 * so that a rejected event does not affect the others. This is the hot path of the service: it
 * allocates one object per accepted event and nothing else.
 */
import type { SignatureCheck, ViewerSignatures } from '../../keys/keys.ts';
import { newUuid7 } from '../../../platform/values/uuid7.ts';
import { badText, checkData, isRecord, type EngagementData } from './event-data.ts';
import { EventProblem } from './event-problem.ts';
import {
  eventKinds,
  isEventKind,
  isPossiblePosition,
  rulesOf,
  type EventKind,
} from './event-rules.ts';
import { isWrongCountry, readCountry } from './event-source.ts';
import { maxAgeMs, maxAheadMs, parseMoment, timestampExpected } from './event-time.ts';
import { isCustomKind, type CustomKind } from '../custom-kinds.ts';
import type { EventDevice, LoggedEvent } from '../logged-event.ts';
import { noItem } from '../erasure/forget-items.ts';

/** Properties of a request that apply to all of its events. */
export type EventSource = {
  /** Time of the request, in milliseconds since the Unix epoch. */
  readonly nowMs: number;
  /** Added to the timestamps of events; see `clockOffsetOf`. */
  readonly clockOffsetMs: number;
  /** Defaults for events that don't specify them. */
  readonly country: string | null;
  readonly device: EventDevice | null;
  /** Whether a known bot sent the request. */
  readonly isBot: boolean;
  /** Whether an app's server sent the request. */
  readonly isServer: boolean;
  /** Decides whether a `userId` is trusted. */
  readonly signatures: ViewerSignatures;
  /** The crowding of the request's network, for one of its viewers. */
  readonly crowdOf: (viewer: string) => number;
  /** Whether the JSON had an escape that can produce NUL or a lone surrogate. */
  readonly mayHoldBadText: boolean;
  /**
   * The content item with that id, in lower case, or null if the organization has none. Undefined
   * if not known yet: the event must then be parsed again.
   */
  readonly findContent: (id: string) => string | null | undefined;
  /** Whether a known item has no fixed length. */
  readonly isEndless: (contentId: string) => boolean;
  /** The custom kinds that the organization has declared. */
  readonly customKinds: ReadonlySet<string>;
};

/** The content named by an event is not known yet. */
export const undecided = Symbol('undecided');

const unknownKind = new EventProblem(
  'UNKNOWN_EVENT',
  'event',
  `must be one of ${eventKinds.map((kind) => `"${kind}"`).join(', ')}`,
);
const undeclaredKind = new EventProblem(
  'UNKNOWN_EVENT',
  'event',
  'is a custom kind that no metric has declared; see POST /v1/metrics',
);
const wrongCountry = new EventProblem(
  'VALIDATION_ERROR',
  'country',
  'must be an ISO 3166-1 alpha-2 country code such as "DE"',
);
const positionBeyondEnd = new EventProblem(
  'VALIDATION_ERROR',
  'data.currentTime',
  'must not exceed data.duration by more than 5 % and 2 seconds',
);
const maxIdCharacters = 128;
const maxViewerCharacters = 256;
const maxVersionCharacters = 64;

/**
 * Returns the accepted event, or why it is rejected. May write into `raw`, which must not be
 * shared.
 */
export function parseEvent(
  raw: unknown,
  source: EventSource,
): LoggedEvent | EventProblem | typeof undecided {
  if (!isRecord(raw)) return invalid('', 'An event must be an object.');
  const kind = raw['event'];
  if (typeof kind !== 'string') return missingOr(kind, 'event', 'text');
  if (!isEventKind(kind)) {
    if (!isCustomKind(kind)) return unknownKind;
    if (!source.customKinds.has(kind)) return undeclaredKind;
  }
  const data = raw['data'] ?? (raw['data'] === null ? null : {});
  if (!isRecord(data)) return invalid('data', 'must be an object');
  if (kind === 'swipe') useEarlierNames(raw, data);
  const fields =
    checkIds(raw, source) ?? checkFields(kind, data) ?? checkData(data, source.mayHoldBadText);
  if (fields !== null) return fields;
  if (isWrongCountry(raw['country'])) return wrongCountry;
  const at = momentOf(raw['timestamp'], source);
  if (at instanceof EventProblem) return at;
  const namesNoItem = isCustomKind(kind) && raw['contentId'] === undefined;
  const contentId = namesNoItem ? noItem : findContent(raw['contentId'], 'contentId', source);
  if (typeof contentId !== 'string') return contentId;
  if (kind === 'watchProgress' && isBeyondEnd(data) && !source.isEndless(contentId)) {
    return positionBeyondEnd;
  }
  if (kind === 'swipe') {
    const from = findContent(data['fromContentId'], 'data.fromContentId', source);
    if (typeof from !== 'string') return from;
    data['fromContentId'] = from;
  }
  return toLogged(raw, kind, contentId, at, data, source);
}

/** The types of the fields have been checked. */
function isBeyondEnd({ currentTime, duration }: EngagementData): boolean {
  return !isPossiblePosition(currentTime as number, duration as number);
}

function toLogged(
  raw: EngagementData,
  event: EventKind | CustomKind,
  contentId: string,
  at: number,
  data: EngagementData,
  source: EventSource,
): LoggedEvent {
  // The types of the ids have been checked.
  const eventId = (raw['eventId'] as string | undefined) ?? newUuid7();
  const logged: Writable<LoggedEvent> = { eventId, event, contentId, at, data };
  const check = checkUser(raw, source.signatures);
  if (check === 'signed') logged.vouched = true;
  if (check !== null && isBelieved(check, source.signatures)) {
    logged.userId = raw['userId'] as string;
  }
  if (raw['deviceId'] !== undefined) logged.deviceId = raw['deviceId'] as string;
  if (raw['sessionId'] !== undefined) logged.sessionId = raw['sessionId'] as string;
  // These two fields were added by us, so an unexpected value is treated as another app's field.
  const country = readCountry(raw['country']) ?? source.country;
  if (country !== null) logged.country = country;
  const device = isDevice(raw['device']) ? raw['device'] : source.device;
  if (device !== null) logged.device = device;
  if (raw['appVersion'] !== undefined) logged.appVersion = raw['appVersion'] as string;
  if (source.isBot) logged.bot = true;
  const viewer = logged.userId ?? logged.deviceId ?? logged.sessionId;
  const isCounted = viewer !== undefined && logged.vouched !== true;
  const crowd = isCounted ? source.crowdOf(viewer) : 0;
  if (crowd > 0) logged.crowd = crowd;
  return logged;
}

/** The result of checking the signature of an event's `userId`, or null without a `userId`. */
export function checkUser(raw: unknown, signatures: ViewerSignatures): SignatureCheck | null {
  const userId = isRecord(raw) ? raw['userId'] : undefined;
  if (!isRecord(raw) || typeof userId !== 'string') return null;
  return signatures.check(userId, raw['signature']);
}

/** Whether an event counts for the user it names. Otherwise, it is anonymous. */
export function isBelieved(check: SignatureCheck, { isRequired }: ViewerSignatures): boolean {
  return !isRequired || check === 'signed';
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

function isDevice(value: unknown): value is EventDevice {
  return value === 'ios' || value === 'android' || value === 'web';
}

/**
 * Accepts alternative names for the fields of a swipe, because the contract's event table names
 * them differently from the text below it.
 */
function useEarlierNames(raw: EngagementData, data: EngagementData): void {
  if (raw['contentId'] === undefined) {
    const to = data['toContentId'] ?? raw['toContentId'];
    if (to !== undefined) raw['contentId'] = to;
  }
  if (data['fromContentId'] === undefined && raw['fromContentId'] !== undefined) {
    data['fromContentId'] = raw['fromContentId'];
  }
  if (data['watchTimeOnFrom'] === undefined) {
    const watched = data['watchTime'] ?? raw['watchTimeOnFrom'] ?? raw['watchTime'];
    if (watched !== undefined) data['watchTimeOnFrom'] = watched;
  }
}

function checkIds(raw: EngagementData, { mayHoldBadText }: EventSource): EventProblem | null {
  return (
    checkId(raw['eventId'], 'eventId', maxIdCharacters, mayHoldBadText) ??
    checkId(raw['userId'], 'userId', maxViewerCharacters, mayHoldBadText) ??
    checkId(raw['deviceId'], 'deviceId', maxViewerCharacters, mayHoldBadText) ??
    checkId(raw['sessionId'], 'sessionId', maxViewerCharacters, mayHoldBadText) ??
    checkId(raw['appVersion'], 'appVersion', maxVersionCharacters, mayHoldBadText)
  );
}

function checkId(
  value: unknown,
  path: string,
  most: number,
  mayHoldBadText: boolean,
): EventProblem | null {
  if (value === undefined) return null;
  if (typeof value !== 'string') return invalid(path, 'must be a string');
  const fits = value.length <= most || (value.length <= 2 * most && codePoints(value) <= most);
  if (value === '' || !fits) return invalid(path, `must have 1 to ${most} characters`);
  const detail = mayHoldBadText ? badText(value) : null;
  return detail === null ? null : invalid(path, detail);
}

function codePoints(text: string): number {
  return Array.from(text).length;
}

function checkFields(kind: EventKind | CustomKind, data: EngagementData): EventProblem | null {
  for (const { name, type, required } of rulesOf(kind)) {
    // Excludes inherited properties such as `constructor`: no field has such a name.
    const value = data[name];
    if (value === undefined) {
      if (required) return invalid(`data.${name}`, 'is required');
    } else if (!type.accepts(value)) {
      return invalid(`data.${name}`, `must be ${type.expected}`);
    }
  }
  return null;
}

function momentOf(
  timestamp: unknown,
  { nowMs, clockOffsetMs }: EventSource,
): number | EventProblem {
  if (timestamp === undefined) return nowMs;
  const told = typeof timestamp === 'string' ? parseMoment(timestamp) : null;
  if (told === null) {
    return invalid('timestamp', timestampExpected);
  }
  const moment = told + clockOffsetMs;
  if (moment > nowMs + maxAheadMs) return nowMs;
  return moment < nowMs - maxAgeMs
    ? new EventProblem('EVENT_TOO_OLD', 'timestamp', 'is more than 24 hours ago')
    : moment;
}

function findContent(id: unknown, path: string, { findContent: find }: EventSource) {
  if (typeof id !== 'string') return missingOr(id, path, 'the id of a content item');
  const found = find(id);
  if (found === undefined) return undecided;
  return found ?? new EventProblem('NOT_FOUND', path, 'there is no content item with this id');
}

function missingOr(value: unknown, path: string, expected: string): EventProblem {
  return invalid(path, value === undefined ? 'is required' : `must be ${expected}`);
}

function invalid(path: string, detail: string): EventProblem {
  return new EventProblem('VALIDATION_ERROR', path, detail);
}
