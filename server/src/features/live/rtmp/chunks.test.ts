/** Messages survive any split into chunks and bytes, and nothing else gets through. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ChunkReader } from './chunk-reader.ts';
import { ChunkWriter } from './chunk-writer.ts';
import { messageType, uint32, type RtmpMessage } from './messages.ts';
import { RtmpError } from './rtmp-error.ts';

const bytes = (maxLength: number) =>
  fc.uint8Array({ maxLength }).map((array) => Buffer.from(array));

const message = fc.record(
  {
    type: fc.constantFrom(messageType.audio, messageType.video, messageType.command),
    streamId: fc.nat(255),
    timestamp: fc.oneof(fc.nat(), fc.constantFrom(0xff_ff_fe, 0xff_ff_ff, 2 ** 32 - 1)),
    payload: bytes(700),
  },
  { noNullPrototype: true },
);

/** Feeds bytes to a reader in pieces of these sizes. */
function readInPieces(reader: ChunkReader, all: Buffer, sizes: readonly number[]): RtmpMessage[] {
  const messages: RtmpMessage[] = [];
  let at = 0;
  for (let turn = 0; at < all.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    messages.push(...reader.read(all.subarray(at, at + size)));
    at += size;
  }
  return messages;
}

test('whatever is written in chunks is read as it was, in whatever pieces it arrives', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.integer({ min: 3, max: 12 }), message), { maxLength: 12 }),
      fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 8 }),
      fc.integer({ min: 1, max: 5_000 }),
      (messages, sizes, chunkBytes) => {
        const [writer, reader] = [new ChunkWriter(), new ChunkReader()];
        const setSize = {
          type: messageType.setChunkSize,
          streamId: 0,
          timestamp: 0,
          payload: uint32(chunkBytes),
        };
        const parts = [writer.write(2, setSize)];
        writer.chunkBytes = chunkBytes;
        for (const [id, one] of messages) parts.push(writer.write(id, one));
        const read = readInPieces(reader, Buffer.concat(parts), sizes);
        assert.deepEqual(
          read,
          messages.map(([, one]) => one),
        );
      },
    ),
  );
});

test('messages may interleave, and repeat their header as a difference', () => {
  const reader = new ChunkReader();
  const video = (first: number, ...rest: number[]) => Buffer.of(first, ...rest);
  const sent = Buffer.concat([
    // 130 bytes of video on chunk stream 4, of which 128 come first.
    video(0x04, 0, 0, 10, 0, 0, 130, messageType.video, 1, 0, 0, 0),
    Buffer.alloc(128, 7),
    // A complete audio message on chunk stream 5 in between.
    video(0x05, 0, 0, 11, 0, 0, 2, messageType.audio, 1, 0, 0, 0, 1, 2),
    video(0xc4),
    Buffer.alloc(2, 7),
    // The next audio message: same length and type, 20 ms later; then another without a header.
    video(0x85, 0, 0, 20, 3, 4),
    video(0xc5, 5, 6),
  ]);
  assert.deepEqual(
    [...reader.read(sent)].map(({ type, timestamp, payload }) => [type, timestamp, payload.length]),
    [
      [messageType.audio, 11, 2],
      [messageType.video, 10, 130],
      [messageType.audio, 31, 2],
      [messageType.audio, 51, 2],
    ],
  );
});

test('limits hold before any byte of a message is kept', () => {
  const header = (length: number, id = 3) =>
    Buffer.of(id, 0, 0, 0, length >> 16, (length >> 8) & 255, length & 255, 20, 0, 0, 0, 0);
  assert.throws(() => [...new ChunkReader().read(header(64 * 1024 + 1))], RtmpError);
  const open = new ChunkReader();
  open.allowMedia();
  assert.deepEqual([...open.read(header(64 * 1024 + 1))], []);
  const crowded = new ChunkReader();
  const many = Array.from({ length: 17 }, (_, index) => header(200, 3 + index));
  assert.throws(() => {
    for (const one of many) Array.from(crowded.read(Buffer.concat([one, Buffer.alloc(128)])));
  }, /too many chunk streams/);
});

test('random bytes give messages or RtmpError, and nothing else', () => {
  fc.assert(
    fc.property(bytes(2_000), (garbage) => {
      try {
        Array.from(new ChunkReader().read(garbage));
      } catch (error) {
        assert.ok(error instanceof RtmpError, String(error));
      }
    }),
  );
});
