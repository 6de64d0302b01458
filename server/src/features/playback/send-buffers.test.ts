import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SendBuffers } from './send-buffers.ts';

test('a buffer is reused only once nothing reads it any more', () => {
  const buffers = new SendBuffers();
  const first = buffers.lend(300_000) ?? assert.fail();
  assert.equal(first.bytes.length, 300_000);
  const second = buffers.lend(300_000) ?? assert.fail();
  assert.notEqual(second.bytes.buffer, first.bytes.buffer);
  first.end({ isUnused: true });
  second.end({ isUnused: false });
  const third = buffers.lend(400_000) ?? assert.fail();
  assert.equal(third.bytes.buffer, first.bytes.buffer);
  const fourth = buffers.lend(400_000) ?? assert.fail();
  assert.notEqual(fourth.bytes.buffer, second.bytes.buffer, 'a broken answer may still be read');
});

test('the memory of slow clients is bounded', () => {
  const buffers = new SendBuffers();
  assert.equal(buffers.lend(3 * 2 ** 20), null, 'too long for one read');
  const lent = [];
  for (;;) {
    const one = buffers.lend(2 * 2 ** 20);
    if (one === null) break;
    lent.push(one);
  }
  assert.equal(lent.length, 32);
  assert.equal(buffers.lend(1), null);
  lent[0]?.end({ isUnused: true });
  assert.notEqual(buffers.lend(1), null);
});
