/**
 * Admission control for event requests: limits the memory that their bodies may take.
 *
 *   arriving ──▶ in work ──▶ answered
 *      │            ▲
 *      │            └─ rejected with 503 if the organization has no room left
 *      ├─▶ ended with 408 after `maxSilenceMs` without a byte
 *      └─▶ ended with 503 if the arriving bodies of all requests exceed `maxArrivingBytes`
 *
 * 1. Only bytes that have arrived count. A request that announces a long body but sends nothing
 *    costs other requests nothing.
 * 2. A request that would not fit is rejected based on its headers, before its body is read.
 *    Parsing bodies only to drop them would cost CPU and memory that admitted requests need.
 * 3. Arriving bodies are raw bytes, so there is room for hundreds of slow ones. When it runs out,
 *    the organization that holds the most loses the body that has been silent for longest.
 * 4. Bodies in work are parsed, which takes about six times their size. They count until their
 *    events are stored, even if the client disconnects.
 * 5. The further statistics fall behind, the less is admitted; see `StatisticsPace`.
 * 6. Both kinds of room are shared fairly between organizations.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Readable } from 'node:stream';
import { Bag, type BagMember } from '../../../platform/memory/bag.ts';
import type { HttpApp } from '../../../platform/http/app.ts';
import { ApiError } from '../../../platform/http/errors.ts';
import { endArrivingBody } from '../../../platform/http/json-bodies.ts';
import { principalOf } from '../../../platform/http/principal.ts';
import { FairShare } from './fair-share.ts';
import { overloaded } from './group-commit.ts';

/** If only one organization is active, it gets half of it. */
const maxWorkBytes = 6 * 1024 * 1024;
const maxArrivingBytes = 16 * 1024 * 1024;
/** A phone that switches networks is silent for a few seconds. */
const maxSilenceMs = 10_000;
const silenceCheckMs = 1_000;
/** The fixed cost of a request, excluding its body. */
const minBytes = 1024;
/** Assumed size of a body without a Content-Length. */
const assumedBytes = 64 * 1024;
/** Assumed expansion of compressed bodies; the size limit of a body catches larger ones. */
const unpackedRatio = 5;

/** The body of one request, from its headers until its events are stored. */
type BodyInHand = BagMember & {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly organizationId: string;
  arrivedBytes: number;
  /** On the process's monotonic clock. */
  lastByteAt: number;
  workBytes: number;
  /**
   * The number of references: the open connection and a running handler. The body counts while this
   * is above 0.
   */
  users: number;
};

declare module 'fastify' {
  interface FastifyRequest {
    /** Null on other routes, and for a request without a body. */
    bodyInHand: BodyInHand | null;
  }
}

export class Admission {
  readonly #inWork = new FairShare(maxWorkBytes);
  readonly #arrivingBytes = new FairShare(maxArrivingBytes);
  readonly #arriving = new Bag<BodyInHand>();

  /**
   * Guards the routes that are added to `app`.
   *
   * @param isTooFast whether to reject a request because statistics can't keep up; called once per
   *   request
   */
  constructor(app: HttpApp, isTooFast: () => boolean) {
    app.decorateRequest('bodyInHand', null);
    app.addHook('onRequest', (request, _reply, done) => {
      const { organizationId } = principalOf(request);
      if (isTooFast()) {
        done(behind());
        return;
      }
      done(this.#inWork.fits(organizationId, expectedBytes(request)) ? undefined : overloaded());
    });
    app.addHook('preParsing', (request, reply, payload, done) => {
      this.#follow(request, reply, payload);
      done(null, payload);
    });
    const timer = setInterval(() => this.#endSilent(), silenceCheckMs).unref();
    app.addHook('onClose', (_app, done) => {
      clearInterval(timer);
      done();
    });
  }

  /**
   * Must be called when the body of a request is complete. From then on, it counts as in work.
   *
   * @throws ApiError UNAVAILABLE if its organization has no room left
   */
  startWork(request: FastifyRequest, bodyBytes: number): void {
    const body = request.bodyInHand;
    if (body === null) return;
    this.#leaveArriving(body);
    if (body.users === 0) return;
    const bytes = workBytesOf(request, bodyBytes);
    if (!this.#inWork.fits(body.organizationId, bytes)) throw overloaded();
    body.workBytes = bytes;
    this.#inWork.add(body.organizationId, bytes);
  }

  /**
   * Counts the body of a request until `work` has ended, even if the client disconnects earlier.
   */
  async holdDuring<T>(request: FastifyRequest, work: () => Promise<T>): Promise<T> {
    const body = request.bodyInHand;
    if (body === null) return work();
    body.users += 1;
    try {
      return await work();
    } finally {
      this.#leave(body);
    }
  }

  #follow(request: FastifyRequest, reply: FastifyReply, payload: Readable): void {
    if (reply.raw.closed) return;
    const { organizationId } = principalOf(request);
    const body: BodyInHand = {
      request,
      reply,
      organizationId,
      arrivedBytes: minBytes,
      lastByteAt: performance.now(),
      workBytes: 0,
      users: 1,
      place: 0,
    };
    request.bodyInHand = body;
    this.#arriving.add(body);
    this.#arrivingBytes.add(organizationId, body.arrivedBytes);
    payload.on('data', (chunk: Buffer) => this.#grow(body, chunk.length));
    reply.raw.on('close', () => {
      this.#leaveArriving(body);
      this.#leave(body);
    });
  }

  #grow(body: BodyInHand, bytes: number): void {
    if (!this.#arriving.has(body)) return;
    body.arrivedBytes += bytes;
    body.lastByteAt = performance.now();
    this.#arrivingBytes.add(body.organizationId, bytes);
    while (this.#arrivingBytes.heldBytes > maxArrivingBytes) {
      const stillest = this.#stillestOf(this.#arrivingBytes.largestHolder());
      if (stillest === null) return;
      this.#end(stillest, overloaded());
    }
  }

  #stillestOf(organizationId: string | null): BodyInHand | null {
    let stillest: BodyInHand | null = null;
    for (const body of this.#arriving) {
      if (body.organizationId !== organizationId) continue;
      if (stillest === null || body.lastByteAt < stillest.lastByteAt) stillest = body;
    }
    return stillest;
  }

  #endSilent(): void {
    const silentSince = performance.now() - maxSilenceMs;
    const silent = [...this.#arriving].filter(({ lastByteAt }) => lastByteAt <= silentSince);
    for (const body of silent) this.#end(body, new ApiError('REQUEST_TIMEOUT'));
  }

  #end(body: BodyInHand, answer: ApiError): void {
    this.#leaveArriving(body);
    endArrivingBody(body.request, body.reply, answer);
  }

  #leaveArriving(body: BodyInHand): void {
    if (!this.#arriving.delete(body)) return;
    this.#arrivingBytes.remove(body.organizationId, body.arrivedBytes);
  }

  #leave(body: BodyInHand): void {
    body.users -= 1;
    if (body.users > 0) return;
    this.#inWork.remove(body.organizationId, body.workBytes);
    body.workBytes = 0;
  }
}

function behind(): ApiError {
  return new ApiError('UNAVAILABLE', {
    message: 'Events arrive faster than they can be processed. Try again later.',
    headers: { 'retry-after': '2' },
  });
}

function expectedBytes(request: FastifyRequest): number {
  return workBytesOf(request, Number(request.headers['content-length'] ?? assumedBytes));
}

function workBytesOf({ headers }: FastifyRequest, bodyBytes: number): number {
  const ratio = headers['content-encoding'] === undefined ? 1 : unpackedRatio;
  return Math.max(minBytes, bodyBytes * ratio);
}
