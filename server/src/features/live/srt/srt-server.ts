/**
 * Accepts SRT publishers.
 *
 *   induction ── answered, nothing kept ──▶ conclusion with a valid cookie ──▶ validated
 *                                                  ├── rejected after a delay
 *                                                  └── accepted ──▶ session ──▶ closed
 *
 * 1. No state is kept for a caller that has not proven its address with a cookie.
 * 2. Pending handshakes and sessions are bounded. A new handshake may replace a rejected one whose
 *    response is still delayed.
 * 3. Datagrams that belong to neither are dropped.
 */
import { randomInt } from 'node:crypto';
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import type { Logger } from 'pino';
import { BusyError } from '../../../platform/async/fair-turns.ts';
import { addressGroup } from '../../../platform/http/address-group.ts';
import type { Scratch } from '../../../platform/storage/scratch.ts';
import type { KeyJudge } from '../ingest/key-judge.ts';
import type { RtmpHandlers, RtmpRefusal } from '../rtmp/rtmp-connection.ts';
import {
  acceptance,
  Cookies,
  inductionAnswer,
  readHandshake,
  refusal,
  rejection,
  streamKeyOfId,
  type Handshake,
  type SrtRejection,
} from './handshake.ts';
import { controlType, readPacket } from './packets.ts';
import { windowPackets } from './reordering.ts';
import { SrtReceiver } from './srt-receiver.ts';
import { SrtSession } from './srt-session.ts';

export type SrtServerLimits = {
  /** Each session runs a media process. */
  readonly maxSessions: number;
  readonly maxHandshakes: number;
  /** Encoders give up after a few seconds. */
  readonly maxRefusalMs: number;
  readonly silenceMs: number;
  readonly memoryLimitBytes: number;
};

export type SrtServerParts = {
  readonly judge: KeyJudge;
  /** Called for each handshake. */
  readonly open: (address: string) => RtmpHandlers;
  readonly scratch: Scratch;
  readonly log: Logger;
};

/** The minimum latency. Without packet loss, more latency than the encoder requested costs nothing. */
const leastLatencyMs = 1_000;
const mostLatencyMs = 10_000;
const tickMs = 10;
const receiveBufferBytes = 2 * 1024 * 1024;
const refusals = {
  unknown: rejection.unauthorized,
  ended: rejection.forbidden,
  full: rejection.overload,
} as const satisfies Record<RtmpRefusal, SrtRejection>;

type Peer = Pick<RemoteInfo, 'address' | 'port'>;
type Established = { readonly session: SrtSession; readonly peer: Peer; readonly accepted: Buffer };
type Judged = { readonly gone: AbortController; readonly done: Promise<void> };

export class SrtServer implements AsyncDisposable {
  readonly #limits: SrtServerLimits;
  readonly #parts: SrtServerParts;
  readonly #cookies = new Cookies();
  /** Sessions by local socket ID, and below by the caller's `nameOf`. */
  readonly #sessions = new Map<number, Established>();
  readonly #callers = new Map<string, Established>();
  readonly #judged = new Map<string, Judged>();
  readonly #refused = new Set<string>();
  #socket: Socket | null = null;

  constructor(limits: SrtServerLimits, parts: SrtServerParts) {
    this.#limits = limits;
    this.#parts = parts;
  }

  /** @throws if the port can't be bound */
  async listen({ port, host }: { port: number; host: string }): Promise<void> {
    const { address, family } = await lookup(host);
    const socket = createSocket({ type: family === 6 ? 'udp6' : 'udp4' });
    socket.bind(port, address);
    await once(socket, 'listening');
    socket.setRecvBufferSize(receiveBufferBytes);
    socket.on('error', (error) => this.#parts.log.warn({ err: error }, 'live stream: SRT failed'));
    socket.on('message', (bytes, peer) => this.#receive(bytes, peer));
    const ticking = setInterval(() => this.#tick(), tickMs);
    socket.once('close', () => clearInterval(ticking));
    this.#socket = socket;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const socket = this.#socket;
    if (socket === null) return;
    socket.removeAllListeners('message');
    for (const { gone } of this.#judged.values()) gone.abort();
    await Promise.all(Array.from(this.#judged.values(), ({ done }) => done));
    for (const { session } of this.#sessions.values()) session.close();
    await Promise.all(Array.from(this.#sessions.values(), ({ session }) => session.closed));
    socket.close();
    await once(socket, 'close');
    this.#socket = null;
  }

  #tick(): void {
    const nowMs = performance.now();
    for (const { session } of this.#sessions.values()) session.tick(nowMs);
  }

  #receive(bytes: Buffer, peer: Peer): void {
    const packet = readPacket(bytes);
    if (packet === null) return;
    if (packet.target !== 0) {
      const found = this.#sessions.get(packet.target);
      const isTheirs = found?.peer.address === peer.address && found.peer.port === peer.port;
      if (isTheirs) found.session.receive(packet, performance.now());
    } else if (packet.type === 'control' && packet.control === controlType.handshake) {
      const handshake = readHandshake(packet.body);
      if (handshake !== null) this.#shakeHands(handshake, peer);
    }
  }

  #shakeHands(handshake: Handshake, peer: Peer): void {
    const { address, port } = peer;
    const place = `${address} ${port}`;
    if (handshake.kind === 'induction') {
      this.#send(inductionAnswer(handshake, this.#cookies.make(place)), peer);
      return;
    }
    if (!this.#cookies.isValid(handshake.cookie, place)) return;
    // Callers repeat a handshake until they get a response.
    const caller = `${place} ${handshake.socketId}`;
    const known = this.#callers.get(caller);
    if (known !== undefined) this.#send(known.accepted, peer);
    else if (!this.#judged.has(caller) && this.#hasRoom()) this.#begin(caller, handshake, peer);
  }

  #hasRoom(): boolean {
    if (this.#judged.size < this.#limits.maxHandshakes) return true;
    const [refused] = this.#refused;
    if (refused === undefined) return false;
    this.#judged.get(refused)?.gone.abort();
    this.#judged.delete(refused);
    this.#refused.delete(refused);
    return true;
  }

  #begin(caller: string, handshake: Handshake, peer: Peer): void {
    const gone = new AbortController();
    const judging = this.#judge(caller, handshake, { peer, gone: gone.signal });
    const done = judging
      .catch((error: unknown) => {
        if (gone.signal.aborted) return;
        this.#send(refusal(handshake, rejection.overload), peer);
        if (error instanceof BusyError) return;
        this.#parts.log.warn({ err: error }, 'live stream: could not check a key');
      })
      .finally(() => {
        if (this.#judged.get(caller)?.gone === gone) this.#judged.delete(caller);
        this.#refused.delete(caller);
      });
    this.#judged.set(caller, { gone, done });
  }

  async #judge(
    caller: string,
    handshake: Handshake,
    { peer, gone }: { peer: Peer; gone: AbortSignal },
  ): Promise<void> {
    const { judge, open } = this.#parts;
    const group = addressGroup(peer.address);
    const key = handshake.problem === null ? streamKeyOfId(handshake.streamId) : null;
    const problem = handshake.problem ?? (key === null ? rejection.forbidden : null);
    const isFull = this.#sessions.size >= this.#limits.maxSessions;
    if (problem !== null || isFull || key === null) {
      this.#send(refusal(handshake, problem ?? rejection.overload), peer);
      return;
    }
    const handlers = open(peer.address);
    const { session, accepted, socketId } = this.#prepare(handshake, handlers, peer);
    const judged = await judge.judge(group, gone, () => handlers.publish(key, session));
    if (typeof judged !== 'string') {
      this.#establish({ session, peer, accepted }, { caller, socketId });
      session.run(judged);
      if (gone.aborted) session.close();
      else this.#send(accepted, peer);
      return;
    }
    if (judged === 'unknown') {
      this.#refused.add(caller);
      await judge.refuseLater(group, gone, this.#limits.maxRefusalMs);
    }
    if (!gone.aborted) this.#send(refusal(handshake, refusals[judged]), peer);
  }

  #prepare(handshake: Handshake, handlers: RtmpHandlers, peer: Peer) {
    const { scratch } = this.#parts;
    const { silenceMs, memoryLimitBytes } = this.#limits;
    const { socketId: target, firstSequence, latencyMs: wanted } = handshake;
    const latencyMs = Math.min(Math.max(wanted, leastLatencyMs), mostLatencyMs);
    const socketId = this.#freeSocketId();
    const send = (bytes: Buffer) => this.#send(bytes, peer);
    const receiver = new SrtReceiver({ firstSequence, latencyMs, target, send });
    const session = new SrtSession({ receiver, handlers, scratch, memoryLimitBytes, silenceMs });
    const accepted = acceptance(handshake, { socketId, latencyMs, window: windowPackets });
    return { session, accepted, socketId };
  }

  #establish(established: Established, { caller, socketId }: { caller: string; socketId: number }) {
    this.#sessions.set(socketId, established);
    this.#callers.set(caller, established);
    void established.session.closed.then(() => {
      this.#sessions.delete(socketId);
      this.#callers.delete(caller);
    });
  }

  #freeSocketId(): number {
    for (;;) {
      const id = randomInt(1, 2 ** 30);
      if (!this.#sessions.has(id)) return id;
    }
  }

  #send(bytes: Buffer, { address, port }: Peer): void {
    // A failed send is treated like packet loss.
    this.#socket?.send(bytes, port, address, () => undefined);
  }
}
