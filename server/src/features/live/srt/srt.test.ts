/** Tests the rules of SRT that matter to a receiver: handshakes, packet order, and packet loss. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomFrom } from '../../../../test/live/parsers.ts';
import {
  acceptance,
  Cookies,
  inductionAnswer,
  readHandshake,
  refusal,
  rejection,
  streamKeyOfId,
} from './handshake.ts';
import { lossList, readPacket, sequenceAfter, sequenceDistance } from './packets.ts';
import { Reordering, windowPackets } from './reordering.ts';
import { conclusionOf, inductionOf } from '../../../../test/live/srt.ts';

const bodyOf = (datagram: Buffer): Buffer => {
  const packet = readPacket(datagram);
  assert.ok(packet?.type === 'control');
  return packet.body;
};

test('an induction is answered with a cookie and not a byte more than it has', () => {
  const question = inductionOf(77);
  const read = readHandshake(bodyOf(question));
  assert.equal(read?.kind, 'induction');
  const answer = inductionAnswer(read, 0xdead_beef);
  assert.ok(answer.length <= question.length);
  assert.equal(answer.readUInt32BE(12), 77, 'the answer is for the socket of the caller');
  const body = bodyOf(answer);
  assert.deepEqual(
    [body.readUInt32BE(0), body.readUInt32BE(4), body.readUInt32BE(28)],
    [5, 0x4a17, 0xdead_beef],
  );
});

test('a conclusion carries key, latency and reasons to refuse it', () => {
  const read = (more: Parameters<typeof conclusionOf>[0]) =>
    readHandshake(bodyOf(conclusionOf(more)));
  const taken = read({ streamId: 'rf_live_key', latencyMs: 250, cookie: 9 });
  assert.ok(taken !== null);
  const { streamId, latencyMs, cookie, problem } = taken;
  assert.deepEqual([streamId, latencyMs, cookie, problem], ['rf_live_key', 250, 9, null]);
  assert.equal(read({ version: 4 })?.problem, rejection.version);
  assert.equal(read({ flags: 0x40 }), null, 'an extension that ends too early makes no sense');
});

test('an acceptance and a refusal are in the words of libsrt', () => {
  const read = readHandshake(bodyOf(conclusionOf({ streamId: 'key' })));
  assert.ok(read !== null);
  const accepted = bodyOf(acceptance(read, { socketId: 5, latencyMs: 1_000, window: 8_192 }));
  assert.deepEqual([accepted.readUInt32BE(20), accepted.readUInt32BE(24)], [0xffff_ffff, 5]);
  assert.equal(accepted.readUInt16BE(48), 2, 'the extension is a response');
  assert.equal(accepted.readUInt16BE(60), 1_000);
  assert.equal(bodyOf(refusal(read, rejection.unauthorized)).readUInt32BE(20), 2_401);
});

test('the key is the stream id or its resource, and only for publishing', () => {
  assert.equal(streamKeyOfId('rf_live_key'), 'rf_live_key');
  assert.equal(streamKeyOfId('#!::r=rf_live_key,m=publish'), 'rf_live_key');
  assert.equal(streamKeyOfId('#!::m=publish,u=me,r=rf_live_key'), 'rf_live_key');
  assert.equal(streamKeyOfId('#!::r=rf_live_key'), 'rf_live_key');
  assert.equal(streamKeyOfId('#!::r=rf_live_key,m=request'), null);
  assert.equal(streamKeyOfId('#!::m=publish'), null);
});

test('a cookie holds for one address and for one to two minutes', () => {
  const cookies = new Cookies();
  const cookie = cookies.make('192.0.2.1 5000', 0);
  assert.equal(cookies.isValid(cookie, '192.0.2.1 5000', 119_999), true);
  assert.equal(cookies.isValid(cookie, '192.0.2.1 5000', 120_000), false);
  assert.equal(cookies.isValid(cookie, '192.0.2.1 5001', 0), false);
  assert.equal(new Cookies().isValid(cookie, '192.0.2.1 5000', 0), false);
});

test('sequence numbers go around', () => {
  assert.equal(sequenceAfter(0x7fff_ffff), 0);
  assert.equal(sequenceDistance(2, 0x7fff_fffe), 4);
  assert.equal(sequenceDistance(0x7fff_fffe, 2), -4);
  const words = lossList([
    { first: 3, last: 3 },
    { first: 5, last: 9 },
  ]);
  assert.equal(words.toString('hex'), '000000038000000500000009');
});

test('whatever the order and the losses, packets come once and in order, late ones never', () => {
  const random = randomFrom(7);
  const latencyMs = 100;
  for (let round = 0; round < 300; round += 1) {
    const first = 0x7fff_ffff - (random() % 40);
    const packets = new Reordering(first, latencyMs);
    const lost = new Set<number>();
    const waiting: { index: number; atMs: number }[] = [];
    for (let index = 0; index < 80; index += 1) {
      if (random() % 6 === 0) lost.add(index);
      else waiting.push({ index, atMs: index + (random() % 50) });
    }
    const got: number[] = [];
    for (let nowMs = 0; nowMs < 400; nowMs += 1) {
      for (const { index } of waiting.filter(({ atMs }) => atMs === nowMs)) {
        const payload = Buffer.of(index);
        packets.take(sequenceAfter(first, index), payload, nowMs);
        packets.take(sequenceAfter(first, index), payload, nowMs);
      }
      for (const payload of packets.ready(nowMs)) got.push(payload[0] ?? -1);
    }
    assert.deepEqual(
      got,
      waiting.map(({ index }) => index).toSorted((one, other) => one - other),
    );
    assert.equal(packets.freePackets, windowPackets);
  }
});

test('missing packets are named, and those the sender gives up are not waited for', () => {
  const packets = new Reordering(10, 1_000);
  assert.equal(packets.take(10, Buffer.of(10), 0), null);
  assert.deepEqual(packets.take(13, Buffer.of(13), 0), { first: 11, last: 12 });
  assert.equal(packets.take(10 + windowPackets, Buffer.of(0), 0), null, 'far ahead is dropped');
  assert.deepEqual([...packets.ready(0)], [Buffer.of(10)]);
  assert.deepEqual(packets.missing(), [{ first: 11, last: 12 }]);
  packets.drop({ first: 11, last: 12 });
  assert.deepEqual([...packets.ready(0)], [Buffer.of(13)]);
  assert.deepEqual(packets.missing(), []);
  assert.equal(packets.next, 14);
});

test('datagrams of every length are read or dropped', () => {
  const random = randomFrom(3);
  const startedMs = performance.now();
  const count = 100_000;
  for (let index = 0; index < count; index += 1) {
    const bytes = Buffer.alloc(random() % 120, random() % 256);
    if (bytes.length >= 4 && index % 2 === 0) bytes.writeUInt32BE(0x8000_0000);
    const packet = readPacket(bytes);
    assert.equal(packet === null, bytes.length < 16);
    if (packet?.type === 'control') readHandshake(packet.body);
  }
  const micros = ((performance.now() - startedMs) * 1_000) / count;
  assert.ok(micros < 200, `${micros} µs for a datagram`);
});
