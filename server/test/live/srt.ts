/** Builds the datagrams of an SRT caller. */
import { controlPacket, controlType } from '../../src/features/live/srt/packets.ts';

export type CallerFields = {
  socketId?: number;
  cookie?: number;
  version?: number;
  latencyMs?: number;
  streamId?: string;
  /** Flags of the handshake extension. If given, the extension is truncated after them. */
  flags?: number;
};

export function inductionOf(socketId: number): Buffer {
  return handshake({ version: 4, extension: 2, type: 1, socketId, cookie: 0 });
}

export function conclusionOf(fields: CallerFields): Buffer {
  const { socketId = 1, cookie = 0, version = 5, latencyMs = 120, streamId, flags } = fields;
  const request = Buffer.alloc(16);
  request.writeUInt16BE(1, 0);
  request.writeUInt16BE(3, 2);
  request.writeUInt32BE(0x01_05_00, 4);
  request.writeUInt32BE(flags ?? 0xbf, 8);
  request.writeUInt16BE(latencyMs, 12);
  request.writeUInt16BE(latencyMs, 14);
  const extensions: Buffer[] = [flags === undefined ? request : request.subarray(0, 12)];
  if (streamId !== undefined) extensions.push(streamIdExtension(streamId));
  const extension = 1 + (streamId === undefined ? 0 : 4);
  const head = { version, extension, type: 0xffff_ffff, socketId, cookie };
  return handshake(head, ...extensions);
}

function streamIdExtension(streamId: string): Buffer {
  const text = Buffer.from(streamId);
  const words = Math.ceil(text.length / 4);
  const content = Buffer.concat([text, Buffer.alloc(words * 4 - text.length)]).swap32();
  return Buffer.concat([Buffer.of(0, 5, words >> 8, words & 255), content]);
}

type Head = {
  version: number;
  extension: number;
  type: number;
  socketId: number;
  cookie: number;
};

function handshake(head: Head, ...extensions: Buffer[]): Buffer {
  const { version, extension, type, socketId, cookie } = head;
  const body = Buffer.alloc(48);
  const words = [version, extension, 1_000, 1_500, 8_192, type, socketId, cookie];
  for (const [index, word] of words.entries()) body.writeUInt32BE(word, index * 4);
  const whole = Buffer.concat([body, ...extensions]);
  return controlPacket({ control: controlType.handshake, body: whole, target: 0, atMs: 0 });
}
