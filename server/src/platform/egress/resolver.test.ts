import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { test, type TestContext } from 'node:test';
import { createResolver, resolveHost } from './resolver.ts';

type Answer = 'silence' | 'unknown' | { a?: string; aaaa?: Buffer };

/** A name server on the loopback interface; returns its address and the names it was asked for. */
async function startNameServer(
  t: TestContext,
  answer: Answer,
): Promise<{ servers: string[]; asked: string[] }> {
  const asked: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (question, from) => {
    const { name, type, end } = readQuestion(question);
    asked.push(name);
    if (answer === 'silence') return;
    const data = answer === 'unknown' ? undefined : recordOf(answer, type);
    const header = Buffer.from(question.subarray(0, 12));
    header.writeUInt16BE(answer === 'unknown' ? 0x8183 : 0x8180, 2);
    header.writeUInt16BE(data === undefined ? 0 : 1, 6);
    header.writeUInt16BE(0, 10);
    const record = Buffer.alloc(data === undefined ? 0 : 12);
    if (data !== undefined) {
      record.writeUInt16BE(0xc00c, 0);
      record.writeUInt16BE(type, 2);
      record.writeUInt16BE(1, 4);
      record.writeUInt16BE(data.length, 10);
    }
    const parts = [header, question.subarray(12, end), record, data ?? Buffer.alloc(0)];
    socket.send(Buffer.concat(parts), from.port, from.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  t.after(() => socket.close());
  return { servers: [`127.0.0.1:${socket.address().port}`], asked };
}

function readQuestion(question: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = question.readUInt8(at); length > 0; length = question.readUInt8(at)) {
    labels.push(question.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.'), type: question.readUInt16BE(at + 1), end: at + 5 };
}

function recordOf(answer: { a?: string; aaaa?: Buffer }, type: number): Buffer | undefined {
  if (type === 28) return answer.aaaa;
  return type === 1 && answer.a !== undefined
    ? Buffer.from(answer.a.split('.').map(Number))
    : undefined;
}

test('addresses of both families come together, so that both are judged', async (t) => {
  const aaaa = Buffer.from('fe800000000000000000000000000001', 'hex');
  const { servers } = await startNameServer(t, { a: '93.184.215.14', aaaa });
  const addresses = await resolveHost(createResolver({ servers }), 'hooks.example.com');
  assert.deepEqual(addresses, [
    { address: '93.184.215.14', family: 4 },
    { address: 'fe80::1', family: 6 },
  ]);
});

test('a name with one family only has the addresses of that one', async (t) => {
  const { servers } = await startNameServer(t, { a: '93.184.215.14' });
  const addresses = await resolveHost(createResolver({ servers }), 'hooks.example.com');
  assert.deepEqual(addresses, [{ address: '93.184.215.14', family: 4 }]);
});

test('a silent name server ends in an error and never reaches the system’s threads', async (t) => {
  const { servers, asked } = await startNameServer(t, 'silence');
  const lookup = createResolver({ servers, timeoutMs: 100 });
  const startedAt = performance.now();
  await assert.rejects(resolveHost(lookup, 'silent.example.com'), { code: 'ETIMEOUT' });
  assert.ok(performance.now() - startedAt < 5_000);
  assert.ok(asked.includes('silent.example.com'));
});

test('local names are found without a name server', async (t) => {
  const { servers, asked } = await startNameServer(t, 'unknown');
  const addresses = await resolveHost(createResolver({ servers }), 'localhost');
  assert.ok(addresses.some(({ address }) => address === '127.0.0.1' || address === '::1'));
  assert.deepEqual(asked, []);
});

test('waiting for an answer ends with the signal', async (t) => {
  const { servers } = await startNameServer(t, 'silence');
  const lookup = createResolver({ servers, timeoutMs: 200 });
  const controller = new AbortController();
  const waiting = resolveHost(lookup, 'silent.example.com', controller.signal);
  controller.abort(new Error('gone'));
  await assert.rejects(waiting, { message: 'gone' });
});
