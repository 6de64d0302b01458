import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError, platformErrors, type ErrorDetail } from '../../../platform/http/errors.ts';
import { principalOf } from '../../../platform/http/principal.ts';
import { answers } from '../../../platform/http/schemas.ts';
import type { HttpApp } from '../../../platform/http/app.ts';
import type { Mutations } from '../../../platform/idempotency/idempotency.ts';
import { Admission } from './admission.ts';
import { eventErrors } from '../errors.ts';
import { isRecord } from './event-data.ts';
import { EventProblem } from './event-problem.ts';
import { parseEventBodies, type EventBody } from './event-bodies.ts';
import { senderOf } from './event-source.ts';
import { takeEvents, type IntakeParts, type Outcome } from './intake.ts';
import { BatchReceived, EventBatch, EventReceived, EventRequest, KeyQuery } from './schemas.ts';

type EventRouteParts = IntakeParts & {
  readonly mutations: Mutations;
  /** The header in which a proxy passes the viewer's country, in lower case. */
  readonly countryHeader: string;
};

/** The events of a body, and when the device sent it by its own clock. */
type SentEvents = { readonly events: readonly unknown[]; readonly sentAt: unknown };

const tags = ['Events'];
const maxEvents = 100;

const about =
  'The response is sent once the events are durable. The body may also be sent as `text/plain`, and ' +
  'compressed with gzip or br. Under overload the response is 503 with `Retry-After`; send the same events again after that time.';

export async function addEventRoutes(app: HttpApp, parts: EventRouteParts): Promise<void> {
  await app.register(async (scope: HttpApp) => {
    const admission = new Admission(scope, parts.isTooFast);
    parseEventBodies(scope, admission);
    // The schemas only describe the bodies; `takeEvents` checks them event by event.
    const options = {
      config: { access: 'publishable', takesBeacons: true } as const,
      validatorCompiler: () => () => true,
    };
    scope.post(
      '/v1/events',
      {
        ...options,
        schema: {
          operationId: 'sendEvent',
          summary: 'Send an engagement event',
          description: `${about} A rejected event results in 400.`,
          tags,
          querystring: KeyQuery,
          body: EventRequest,
          response: answers({ 200: EventReceived }),
        },
      },
      (request, reply) => admission.holdDuring(request, () => receiveOne(parts, request, reply)),
    );
    scope.post(
      '/v1/events/batch',
      {
        ...options,
        schema: {
          operationId: 'sendEvents',
          summary: 'Send up to 100 engagement events',
          description: `${about} Each event is accepted or rejected on its own; rejected events are listed in \`errors\`.`,
          tags,
          querystring: KeyQuery,
          body: EventBatch,
          response: answers({ 200: BatchReceived }),
        },
      },
      (request, reply) => admission.holdDuring(request, () => receiveBatch(parts, request, reply)),
    );
  });
}

async function receiveOne(
  parts: EventRouteParts,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const body = bodyOf(request);
  if (!isRecord(body.json)) throw notABody('The body must be an event: a JSON object.');
  const sent = { events: [body.json], sentAt: body.json['sentAt'] };
  return answer(parts, request, reply, sent, ([outcome]) => {
    if (outcome === undefined || outcome instanceof EventProblem) throw refusal(outcome);
    const unsigned = unsignedOf(body.json, outcome);
    return { received: true, eventId: outcome.eventId, ...(unsigned !== null && { unsigned }) };
  });
}

async function receiveBatch(
  parts: EventRouteParts,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const sent = batchOf(bodyOf(request).json);
  const { events } = sent;
  return answer(parts, request, reply, sent, (outcomes) => {
    const errors = outcomes.flatMap((outcome, index) =>
      outcome instanceof EventProblem
        ? [{ index, eventId: idOf(events[index]), code: outcome.code, message: outcome.message }]
        : [],
    );
    const unsigned = outcomes.flatMap((outcome, index) => {
      const found = unsignedOf(events[index], outcome);
      return found === null ? [] : [{ index, eventId: idOf(events[index]), ...found }];
    });
    return {
      received: outcomes.length - errors.length,
      failed: errors.length,
      errors,
      ...(unsigned.length > 0 && { unsigned }),
    };
  });
}

/**
 * Takes the events and responds with their outcomes, formatted by `present`. With a secret key, an
 * Idempotency-Key also determines the ids of events without one, so that a retry recognizes events
 * stored just before a crash.
 */
async function answer(
  parts: EventRouteParts,
  request: FastifyRequest,
  reply: FastifyReply,
  { events, sentAt }: SentEvents,
  present: (outcomes: Outcome[]) => object,
): Promise<unknown> {
  const { organizationId, type } = principalOf(request);
  const { bytes, mayHoldBadText } = bodyOf(request);
  const sender = senderOf(request, parts.countryHeader);
  const take = async (taken: readonly unknown[], idSeed: string | null) => {
    const source = { ...sender, mayHoldBadText };
    return present(
      await takeEvents(parts, { organizationId, events: taken, sentAt, source, bytes, idSeed }),
    );
  };
  const idempotencyKey = request.headers['idempotency-key'];
  if (type !== 'secret' || idempotencyKey === undefined) return { data: await take(events, null) };
  const seed = `${organizationId}\0${String(idempotencyKey)}`;
  // Storing needs another database connection, so none may be held here.
  return parts.mutations.mutateAfter(
    request,
    reply,
    () => take(copyOf(events), seed),
    async (_tx, data) => ({ data }),
  );
}

/** The intake writes into events, while the body must stay unchanged to recognize a retry. */
function copyOf(events: readonly unknown[]): readonly unknown[] {
  try {
    return structuredClone(events);
  } catch (error) {
    const message = 'The body is nested too deeply.';
    throw new ApiError('INVALID_REQUEST', { message, cause: error });
  }
}

function bodyOf(request: FastifyRequest): EventBody {
  const body = request.body as EventBody | undefined | null;
  if (body === undefined || body === null) throw notABody('The body is missing.');
  return body;
}

/** @throws ApiError if the body is not a batch, or has too few or too many events */
function batchOf(json: unknown): SentEvents {
  if (!isRecord(json)) throw notABody('The body must be a JSON object with the field events.');
  const { events, sentAt } = json;
  if (events === undefined) throw invalid('events', 'is required');
  if (!Array.isArray(events)) throw invalid('events', 'must be an array');
  const unknown = Object.keys(json).find((key) => key !== 'events' && key !== 'sentAt');
  if (unknown !== undefined) throw invalid(unknown.toWellFormed(), 'is not a known field');
  if (events.length === 0) throw invalid('events', 'must hold at least one event');
  if (events.length > maxEvents) {
    throw new ApiError('LIMIT_EXCEEDED', {
      message: `events: must hold at most ${maxEvents} events`,
      details: [{ path: 'events', message: `must hold at most ${maxEvents} events` }],
    });
  }
  return { events, sentAt };
}

/** Explains why a user ID without a valid signature was ignored, or returns null. */
function unsignedOf(raw: unknown, outcome: Outcome) {
  if (outcome instanceof EventProblem || outcome.vouched === true) return null;
  if (!isRecord(raw) || typeof raw['userId'] !== 'string') return null;
  const isSigned = raw['signature'] !== undefined && raw['signature'] !== '';
  const isAnonymous = outcome.userId === undefined;
  if (!isAnonymous && !isSigned) return null;
  return {
    reason: isSigned ? 'wrong_signature' : 'no_signature',
    countedAs: isAnonymous ? 'anonymous' : 'user',
  };
}

/** The id given by the client, to match the event with its outcome. */
function idOf(event: unknown): string | null {
  const id = isRecord(event) ? event['eventId'] : null;
  return typeof id === 'string' ? id.slice(0, 128).toWellFormed() : null;
}

function notABody(message: string): ApiError {
  return new ApiError('INVALID_REQUEST', { message });
}

function invalid(path: string, message: string): ApiError {
  return new ApiError('VALIDATION_ERROR', {
    message: `${path}: ${message}`,
    details: [{ path, message }],
  });
}

/** A rejected event is a bad request, no matter which status its code has elsewhere. */
function refusal(problem: EventProblem | undefined): ApiError {
  if (problem === undefined || problem.code === 'INTERNAL_ERROR') {
    return new ApiError('INTERNAL_ERROR');
  }
  const details: ErrorDetail[] =
    problem.path === '' ? [] : [{ path: problem.path, message: problem.detail }];
  return new ApiError({ ...platformErrors, ...eventErrors }[problem.code], {
    message: problem.message,
    statusCode: 400,
    ...(details.length > 0 && { details }),
  });
}
