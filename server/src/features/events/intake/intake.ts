/** Event intake: parses each event, then stores all accepted ones together. */
import { createHash } from 'node:crypto';
import { ApiError, fieldError } from '../../../platform/http/errors.ts';
import type { ContentId, OrganizationId } from '../../../platform/values/ids.ts';
import type { SignatureReader, ViewerSignatures } from '../../keys/keys.ts';
import type { Crowds } from './crowds.ts';
import { isRecord } from './event-data.ts';
import { clockOffsetOf, timestampExpected } from './event-time.ts';
import { parseEvent, undecided, type EventSource } from './event-parser.ts';
import { EventProblem } from './event-problem.ts';
import type { GroupCommit } from './group-commit.ts';
import type { KnownKinds } from './declared-kinds.ts';
import type { KnownContent } from './known-content.ts';
import { isCustomKind } from '../custom-kinds.ts';
import type { LoggedEvent } from '../logged-event.ts';

/** The events of one request. */
export type Delivery = {
  readonly organizationId: string;
  /** As parsed from the JSON. The caller must not use them afterwards. */
  readonly events: readonly unknown[];
  readonly source: Omit<
    EventSource,
    | 'findContent'
    | 'isEndless'
    | 'nowMs'
    | 'clockOffsetMs'
    | 'crowdOf'
    | 'signatures'
    | 'customKinds'
  > & {
    /** The address of the viewer's device, if known. */
    readonly address: string | null;
  };
  /** When the client sent the request, by its own clock; undefined if not given. */
  readonly sentAt: unknown;
  /** Length of their JSON. */
  readonly bytes: number;
  /** Seed for the ids of events without one, the same for each retry of the request. */
  readonly idSeed: string | null;
};

/** The outcome of each event, in request order. */
export type Outcome = LoggedEvent | EventProblem;

export type IntakeParts = {
  /** Whether to reject the next request, because statistics can't keep up. */
  readonly isTooFast: () => boolean;
  readonly known: KnownContent;
  readonly kinds: Pick<KnownKinds, 'of'>;
  readonly crowds: Crowds;
  readonly viewerSignatures: SignatureReader;
  readonly commit: GroupCommit;
  /** Called for each rejected event. */
  readonly onRejected: (organizationId: string, raw: unknown, problem: EventProblem) => void;
};

/**
 * A swipe names two items, and the second is looked up after the first. One more round is a spare.
 */
const maxLookups = 3;

/**
 * Resolves once every accepted event is durable.
 *
 * @throws ApiError VALIDATION_ERROR if `sentAt` is not a timestamp
 * @throws ApiError UNAVAILABLE if they could not be stored now, in which case none is acknowledged
 */
export async function takeEvents(parts: IntakeParts, delivery: Delivery): Promise<Outcome[]> {
  if (delivery.idSeed !== null) nameEvents(delivery.events, delivery.idSeed);
  const outcomes = await parseAll(parts, delivery);
  const accepted: LoggedEvent[] = [];
  for (let index = 0; index < outcomes.length; index += 1) {
    const outcome = outcomes[index];
    if (outcome instanceof EventProblem) {
      parts.onRejected(delivery.organizationId, delivery.events[index], outcome);
    } else if (outcome !== undefined) {
      accepted.push(outcome);
    }
  }
  if (accepted.length === 0) return outcomes;
  const poison = await parts.commit.submit(delivery.organizationId, accepted, delivery.bytes);
  if (poison.size === 0) return outcomes;
  return outcomes.map((outcome) =>
    outcome instanceof EventProblem || !poison.has(outcome) ? outcome : notStored,
  );
}

const notStored = new EventProblem('INTERNAL_ERROR', '', 'The event could not be stored.');

/** Parses the events. If they name unknown content, looks it up and parses them again. */
async function parseAll(
  { known, kinds, crowds, viewerSignatures }: IntakeParts,
  delivery: Delivery,
): Promise<Outcome[]> {
  const { organizationId, events } = delivery;
  const nowMs = Date.now();
  const clockOffsetMs = clockOffsetOf(delivery.sentAt, nowMs);
  if (clockOffsetMs === null) throw fieldError('sentAt', timestampExpected);
  const askedAtMs = performance.now();
  const signatures = delivery.source.isServer
    ? serverSpeaks
    : await viewerSignatures(organizationId as OrganizationId);
  const customKinds = events.some(isOfCustomKind) ? await kinds.of(organizationId) : noKinds;
  const crowdOf = crowdReader(crowds, delivery, nowMs);
  for (let lookup = 0; lookup < maxLookups; lookup += 1) {
    const missing = new Set<ContentId>();
    const findContent = known.finder(organizationId, missing, askedAtMs);
    const source: EventSource = {
      ...delivery.source,
      nowMs,
      clockOffsetMs,
      findContent,
      isEndless: (contentId) => known.isEndless(organizationId, contentId),
      crowdOf,
      signatures,
      customKinds,
    };
    const outcomes: Outcome[] = [];
    for (const event of events) {
      const outcome = parseEvent(event, source);
      if (outcome !== undecided) outcomes.push(outcome);
    }
    if (missing.size === 0) return outcomes;
    await known.load(organizationId, missing);
  }
  throw new ApiError('UNAVAILABLE');
}

const noKinds: ReadonlySet<string> = new Set();

function isOfCustomKind(raw: unknown): boolean {
  const kind = isRecord(raw) ? raw['event'] : undefined;
  return typeof kind === 'string' && isCustomKind(kind);
}

/** An app's server vouches for its users without signatures. */
const serverSpeaks: ViewerSignatures = { isRequired: false, check: () => 'signed' };

/** Caches the last viewer, because a batch usually has only one. */
function crowdReader(
  crowds: Crowds,
  { organizationId, source: { address } }: Delivery,
  nowMs: number,
): EventSource['crowdOf'] {
  let last: string | null = null;
  let crowd = 0;
  return (viewer) => {
    if (address === null) return 0;
    if (viewer !== last) {
      last = viewer;
      crowd = crowds.of(organizationId, viewer, address, nowMs);
    }
    return crowd;
  };
}

/** Gives an id to each event that has none. */
function nameEvents(events: readonly unknown[], seed: string): void {
  for (const [index, event] of events.entries()) {
    if (!isRecord(event) || event['eventId'] !== undefined) continue;
    const hex = createHash('sha256').update(`${seed}\0${index}`).digest('hex');
    event['eventId'] =
      `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
  }
}
