/** Attacks on a service, run in a separate thread so that they don't delay the measurement. */
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker, isMainThread, workerData } from 'node:worker_threads';

/** The service, and the keys of the attacking organization. */
export type Target = {
  url: string;
  secretKey: string;
  publishableKey: string;
  /** The path of a media segment. */
  segment: string;
};

const wideBody = `{${Array.from({ length: 80_000 }, (_, at) => `"f${at}":1`).join()}}`;
const deepBody = `{"value":${'['.repeat(500_000)}${']'.repeat(500_000)}}`;
const emptyLists = `{"events":[${'[],'.repeat(300_000)}[]]}`;
const wrongElements = `{"ids":[${'1,'.repeat(499_999)}1]}`;

type Attack = (target: Target) => Promise<unknown>;

/** Attacks by description. Each continues until its thread is terminated. */
const attacks = {
  '4 sockets pipeline 6,000 requests for /openapi.json': (target) =>
    each(4, () => pipelineAgain(target, '/openapi.json', 6_000)),
  '4 sockets pipeline 6,000 requests for /metrics': (target) =>
    each(4, () => pipelineAgain(target, '/metrics', 6_000)),
  '4 sockets pipeline 6,000 requests for /docs/scalar.js': (target) =>
    each(4, () => pipelineAgain(target, '/docs/scalar.js', 6_000)),
  '60 sockets pipeline 1,500 malformed paths': (target) =>
    each(60, () => pipelineAgain(target, '/%', 1_500)),
  '60 sockets pipeline 1,500 ids that are too long': (target) =>
    each(60, () => pipelineAgain(target, `/v1/content/${'x'.repeat(600)}`, 1_500)),
  '60 sockets pipeline 1,500 requests without a Host': (target) =>
    each(60, () => pipelineAgain(target, '/healthz', 1_500, '')),
  '60 sockets pipeline 1,500 requests with an unknown Expect': (target) =>
    each(60, () => pipelineAgain(target, '/healthz', 1_500, 'Host: x\r\nExpect: nonsense\r\n')),
  '20 senders of 80,000 keys without an API key': (target) =>
    each(20, () => sendAgain(target, '/console/session', null, wideBody)),
  '20 senders of 80,000 keys as events': (target) =>
    each(20, () => sendAgain(target, '/v1/events', target.publishableKey, wideBody)),
  '20 senders of 500,000 levels as events': (target) =>
    each(20, () => sendAgain(target, '/v1/events', target.publishableKey, deepBody)),
  '20 senders of 500,000 levels as a flag': (target) =>
    each(20, () => sendAgain(target, '/v1/flags/x', target.secretKey, deepBody, 'PUT')),
  '20 senders of 300,000 empty lists': (target) =>
    each(20, () => sendAgain(target, '/v1/events', target.publishableKey, emptyLists)),
  '20 senders of 500,000 wrong elements': (target) =>
    each(20, () => sendAgain(target, '/v1/content/bulk/delete', target.secretKey, wrongElements)),
  '300 sockets ask for 16 segments and read none': (target) =>
    each(300, () => pipelineOnce(target, target.segment, 16)),
  '900 sockets ask for 16 segments and read none': (target) =>
    each(900, () => pipelineOnce(target, target.segment, 16)),
  '900 sockets ask for /openapi.json and do not read it': (target) =>
    each(900, () => pipelineOnce(target, '/openapi.json', 1)),
  '3 sockets promise a mebibyte of events, and send none': (target) =>
    each(3, () => trickleEvents(target, 0)),
  '300 phones send events at 1 kB a second': (target) =>
    each(300, () => trickleEvents(target, 100)),
} satisfies Record<string, Attack>;

export type AttackName = keyof typeof attacks;

export const attackNames = Object.keys(attacks) as AttackName[];

/** Attacks until disposed of. */
export function startAttack(name: AttackName, target: Target): AsyncDisposable {
  const worker = new Worker(new URL(import.meta.url), { workerData: { name, target } });
  return { [Symbol.asyncDispose]: async () => void (await worker.terminate()) };
}

/** Test runners have threads as well. */
function isOrder(data: unknown): data is { name: AttackName; target: Target } {
  return typeof data === 'object' && data !== null && 'name' in data && 'target' in data;
}

function each(count: number, begin: () => Promise<unknown>): Promise<unknown[]> {
  return Promise.all(Array.from({ length: count }, begin));
}

function openSocket({ url }: Target): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).pause();
  socket.on('error', () => undefined);
  return socket;
}

/** Writes the requests without reading responses, and starts over every one and a half seconds. */
async function pipelineAgain(
  target: Target,
  path: string,
  count: number,
  headers = 'Host: x\r\n',
): Promise<never> {
  const bytes = `GET ${path} HTTP/1.1\r\n${headers}\r\n`.repeat(count);
  for (;;) {
    const socket = openSocket(target);
    socket.write(bytes);
    await delay(1_500);
    socket.destroy();
  }
}

/**
 * Writes the requests without reading responses, and keeps the connection for longer than a
 * measurement.
 */
async function pipelineOnce(target: Target, path: string, count: number): Promise<never> {
  for (;;) {
    const socket = openSocket(target);
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(count));
    await delay(20_000);
    socket.destroy();
  }
}

async function sendAgain(
  { url }: Target,
  path: string,
  key: string | null,
  body: string,
  method = 'POST',
): Promise<never> {
  const authorization = key === null ? {} : { authorization: `Bearer ${key}` };
  const headers = { 'content-type': 'application/json', 'x-reelfeed-console': '1' };
  for (;;) {
    const request = { method, headers: { ...headers, ...authorization }, body };
    const status = await fetch(url + path, request).then(
      async (answer) => answer.arrayBuffer().then(() => answer.status),
      () => 0,
    );
    if (status === 200) throw new Error('The body was accepted.');
  }
}

/**
 * Announces a mebibyte of events, sends some of it ten times a second, and starts over when
 * rejected.
 */
async function trickleEvents(target: Target, bytesEachTime: number): Promise<never> {
  const head =
    'POST /v1/events/batch HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n' +
    `Authorization: Bearer ${target.publishableKey}\r\nContent-Length: 1048576\r\n\r\n`;
  for (;;) {
    const socket = openSocket(target).resume();
    socket.write(head);
    while (socket.writable) {
      await delay(100);
      if (bytesEachTime > 0) socket.write(' '.repeat(bytesEachTime));
    }
    socket.destroy();
  }
}

if (!isMainThread && isOrder(workerData)) await attacks[workerData.name](workerData.target);
