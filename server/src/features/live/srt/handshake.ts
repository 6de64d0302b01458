/**
 * The listener's side of the SRT handshake (draft-sharabayko-srt-01, section 4.3).
 *
 *   caller: induction ──▶ cookie ──▶ conclusion with cookie and stream id ──▶ conclusion, or refusal
 *
 * 1. Inductions are answered without keeping state. The cookie proves the caller's address.
 * 2. No response is longer than its request, so the port can't be used for amplification attacks.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { controlPacket, controlType } from './packets.ts';

const handshakeBytes = 48;
const induction = 1;
const conclusion = 0xffff_ffff;
/** The extension field value that marks a version 5 listener's induction response. */
const magic = 0x4a17;
const version5 = 5;
const extensionType = {
  request: 1,
  response: 2,
  keyMaterial: 3,
  streamId: 5,
  congestion: 6,
  filter: 7,
  group: 8,
} as const;
const flags = { tsbpd: 3, crypt: 4, dropLate: 8, periodicLoss: 16, retransmitted: 32, stream: 64 };
/** The version that is announced: this listener behaves like libsrt 1.5. */
const libraryVersion = 0x01_05_00;
const maxStreamIdBytes = 512;
const hasRequest = 1;
/** Handshake types from this value up are rejections. */
const firstRefusal = 1_000;
const cookieLifeMs = 60_000;

/** Rejection codes from libsrt and the SRT access control guidelines. Encoders display them. */
export const rejection = {
  rogue: 4,
  version: 8,
  encryption: 11,
  messageApi: 12,
  congestion: 13,
  filter: 14,
  group: 15,
  unauthorized: 1_401,
  overload: 1_402,
  forbidden: 1_403,
} as const;
export type SrtRejection = (typeof rejection)[keyof typeof rejection];

export type Handshake = {
  readonly kind: 'induction' | 'conclusion';
  readonly version: number;
  readonly cookie: number;
  readonly socketId: number;
  readonly firstSequence: number;
  /** The latency that the caller requests: how long to wait for lost packets. */
  readonly latencyMs: number;
  /** Empty if the caller sent none. */
  readonly streamId: string;
  /** The reason to reject the handshake regardless of its stream ID, or null. */
  readonly problem: SrtRejection | null;
  readonly body: Buffer;
};

/** Parses a handshake body. Returns null if it is malformed. */
export function readHandshake(body: Buffer): Handshake | null {
  if (body.length < handshakeBytes) return null;
  const type = body.readUInt32BE(20);
  if (type !== induction && type !== conclusion) return null;
  const version = body.readUInt32BE(0);
  const fields = {
    version,
    firstSequence: body.readUInt32BE(8) & 0x7fff_ffff,
    socketId: body.readUInt32BE(24),
    cookie: body.readUInt32BE(28),
    body,
  };
  const nothing = { latencyMs: 0, streamId: '', problem: null };
  if (type === induction) return { kind: 'induction', ...fields, ...nothing };
  const kind = 'conclusion';
  if (version !== version5) return { kind, ...fields, ...nothing, problem: rejection.version };
  const read = readExtensions(body.subarray(handshakeBytes));
  return read === null ? null : { kind, ...fields, ...read };
}

type Extensions = Pick<Handshake, 'latencyMs' | 'streamId' | 'problem'>;

function readExtensions(bytes: Buffer): Extensions | null {
  let [latencyMs, streamId] = [0, ''];
  let problem: SrtRejection | null = rejection.rogue;
  const problems: SrtRejection[] = [];
  for (let at = 0; at + 4 <= bytes.length;) {
    const start = at + 4;
    const end = start + bytes.readUInt16BE(at + 2) * 4;
    if (end > bytes.length) return null;
    const content = bytes.subarray(start, end);
    const type = bytes.readUInt16BE(at);
    at = end;
    if (type === extensionType.request && content.length >= 12) {
      const isStream = (content.readUInt32BE(4) & flags.stream) !== 0;
      problem = isStream ? rejection.messageApi : null;
      latencyMs = Math.max(content.readUInt16BE(8), content.readUInt16BE(10));
    } else if (type === extensionType.streamId) {
      if (content.length > maxStreamIdBytes) return null;
      streamId = swapWords(content).toString('utf8').replace(/\0+$/, '');
    } else problems.push(...problemOf(type, content));
  }
  return { latencyMs, streamId, problem: problem ?? problems[0] ?? null };
}

function problemOf(type: number, content: Buffer): SrtRejection[] {
  if (type === extensionType.keyMaterial) return [rejection.encryption];
  if (type === extensionType.filter) return [rejection.filter];
  if (type === extensionType.group) return [rejection.group];
  if (type !== extensionType.congestion) return [];
  const name = swapWords(content).toString('latin1').replace(/\0+$/, '');
  return name === 'live' ? [] : [rejection.congestion];
}

/** Strings are sent as 32-bit words in little-endian order. */
function swapWords(bytes: Buffer): Buffer {
  const whole = bytes.subarray(0, bytes.length - (bytes.length % 4));
  return Buffer.from(whole).swap32();
}

/**
 * Extracts the stream key: the whole stream ID, or `r` in `#!::r=KEY,m=publish` (the syntax of the SRT
 * access control guidelines). Returns null if the mode is not `publish`.
 */
export function streamKeyOfId(streamId: string): string | null {
  if (!streamId.startsWith('#!::')) return streamId;
  const pairs = streamId.slice(4).split(',');
  const fields = new Map(pairs.map((pair) => splitOnce(pair)));
  if ((fields.get('m') ?? 'publish') !== 'publish') return null;
  return fields.get('r') ?? null;
}

function splitOnce(pair: string): [string, string] {
  const at = pair.indexOf('=');
  return at === -1 ? [pair, ''] : [pair.slice(0, at), pair.slice(at + 1)];
}

/** Creates and checks cookies. A cookie is valid for one address and port, for one to two minutes. */
export class Cookies {
  readonly #secret = randomBytes(32);

  make(peer: string, nowMs = Date.now()): number {
    return this.#of(peer, Math.floor(nowMs / cookieLifeMs));
  }

  isValid(cookie: number, peer: string, nowMs = Date.now()): boolean {
    const period = Math.floor(nowMs / cookieLifeMs);
    return cookie === this.#of(peer, period) || cookie === this.#of(peer, period - 1);
  }

  #of(peer: string, period: number): number {
    const digest = createHmac('sha256', this.#secret).update(`${peer} ${period}`).digest();
    return digest.readUInt32BE(0);
  }
}

export function inductionAnswer({ body, socketId }: Handshake, cookie: number): Buffer {
  const answer = Buffer.from(body.subarray(0, handshakeBytes));
  answer.writeUInt32BE(version5, 0);
  answer.writeUInt32BE(magic, 4);
  answer.writeUInt32BE(cookie, 28);
  return packet(answer, socketId);
}

/** The response that rejects a conclusion. */
export function refusal({ body, socketId }: Handshake, reason: SrtRejection): Buffer {
  const answer = Buffer.from(body.subarray(0, handshakeBytes));
  answer.writeUInt32BE(version5, 0);
  answer.writeUInt32BE(0, 4);
  answer.writeUInt32BE(firstRefusal + reason, 20);
  return packet(answer, socketId);
}

/** The response that accepts a conclusion. */
export function acceptance(
  { body, socketId }: Handshake,
  own: { socketId: number; latencyMs: number; window: number },
): Buffer {
  const answer = Buffer.alloc(handshakeBytes + 16);
  body.copy(answer, 0, 0, handshakeBytes);
  answer.writeUInt32BE(version5, 0);
  answer.writeUInt32BE(hasRequest, 4);
  answer.writeUInt32BE(own.window, 16);
  answer.writeUInt32BE(conclusion, 20);
  answer.writeUInt32BE(own.socketId, 24);
  answer.writeUInt32BE(0, 28);
  answer.writeUInt16BE(extensionType.response, handshakeBytes);
  answer.writeUInt16BE(3, handshakeBytes + 2);
  const { tsbpd, crypt, dropLate, periodicLoss, retransmitted } = flags;
  answer.writeUInt32BE(libraryVersion, handshakeBytes + 4);
  answer.writeUInt32BE(tsbpd | crypt | dropLate | periodicLoss | retransmitted, handshakeBytes + 8);
  answer.writeUInt16BE(own.latencyMs, handshakeBytes + 12);
  answer.writeUInt16BE(own.latencyMs, handshakeBytes + 14);
  return packet(answer, socketId);
}

function packet(body: Buffer, target: number): Buffer {
  return controlPacket({ control: controlType.handshake, body, target, atMs: 0 });
}
