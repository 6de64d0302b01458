/**
 * What does an organization notice while another client attacks the service? Each attack lasts as
 * long as a busy feed is read with the key of the organization that is not part of it.
 */
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { createOrganization } from '../server/src/features/organizations/organizations.ts';
import { inTransaction } from '../server/src/platform/database/database.ts';
import { insertReadyItems } from './lib/catalogue.ts';
import { pagesPerSecond, readFeed } from './lib/read-feed.ts';
import { report, type Row } from './lib/report.ts';
import { startBenchService } from './lib/service.ts';

const maxSlowdown = 2;
/** Latencies are whole milliseconds: below this one, a ratio says nothing. */
const smallestBaselineMs = 5;
const seconds = 8;

await using service = await startBenchService();
await insertReadyItems(service.database.db, 1, 1_000);
const attacker = await inTransaction(service.database.db, (tx) =>
  createOrganization(tx, 'Attacker'),
);
const { hostname, port } = new URL(service.url);

type Attack = { what: string; start: (signal: AbortSignal) => Promise<unknown> };

const attacks: Attack[] = [
  ...['/openapi.json', '/metrics', '/docs/scalar.js'].map((path) => ({
    what: `4 sockets pipeline 6,000 requests for ${path}`,
    start: (signal: AbortSignal) => each(4, () => pipelineUnread(path, signal)),
  })),
  {
    what: '40 bodies of 500,000 wrong elements at once',
    start: () => each(40, sendWrongBody),
  },
  {
    what: '3 sockets promise a mebibyte of events, and send none',
    start: (signal) => each(3, () => trickleEvents(0, signal)),
  },
  {
    what: '300 phones send events at 1 kB a second',
    start: (signal) => each(300, () => trickleEvents(100, signal)),
  },
];

// Both are made when they are first asked for.
for (const path of ['/openapi.json', '/docs/scalar.js']) await fetch(service.url + path);
await readFeed(service, 3);
const idle = await readFeed(service, seconds);
const rows: Row[] = [
  { what: `feed at ${pagesPerSecond} pages/s, idle: p99`, figure: `${idle.p99Ms} ms` },
];
for (const { what, start } of attacks) {
  const over = new AbortController();
  const attack = start(over.signal);
  const during = await readFeed(service, seconds);
  over.abort();
  await attack;
  const ratio =
    Math.max(smallestBaselineMs, during.p99Ms) / Math.max(smallestBaselineMs, idle.p99Ms);
  rows.push({
    what,
    figure: `${during.p99Ms} ms (${ratio.toFixed(1)}×), ${during.failures} failed`,
    limit: `≤ ${maxSlowdown}×, 0 failed`,
    kept: ratio <= maxSlowdown && during.failures === 0,
  });
}
report(rows);

function each(count: number, begin: () => Promise<unknown>): Promise<unknown[]> {
  return Promise.all(Array.from({ length: count }, begin));
}

function openSocket(): Socket {
  const socket = connect(Number(port), hostname).pause();
  socket.on('error', () => undefined);
  return socket;
}

/** Writes 6,000 requests and reads no answer; begins again every one and a half seconds. */
async function pipelineUnread(path: string, signal: AbortSignal): Promise<void> {
  const bytes = `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(6_000);
  while (!signal.aborted) {
    const socket = openSocket();
    socket.write(bytes);
    await delay(1_500, undefined, { signal }).catch(() => undefined);
    socket.destroy();
  }
}

async function sendWrongBody(): Promise<void> {
  const answer = await fetch(`${service.url}/v1/content/bulk/delete`, {
    method: 'POST',
    headers: { authorization: `Bearer ${attacker.secretKey}`, 'content-type': 'application/json' },
    body: `{"ids":[${'1,'.repeat(499_999)}1]}`,
  });
  if (answer.status !== 400) throw new Error(`a wrong body was answered ${answer.status}`);
}

/** Promises a mebibyte of events, sends some bytes of it ten times a second, and begins again when refused. */
async function trickleEvents(bytesEachTime: number, signal: AbortSignal): Promise<void> {
  const head =
    'POST /v1/events/batch HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n' +
    `Authorization: Bearer ${attacker.publishableKey}\r\nContent-Length: 1048576\r\n\r\n`;
  while (!signal.aborted) {
    const socket = openSocket().resume();
    socket.write(head);
    while (!signal.aborted && socket.writable) {
      await delay(100, undefined, { signal }).catch(() => undefined);
      if (bytesEachTime > 0) socket.write(' '.repeat(bytesEachTime));
    }
    socket.destroy();
  }
}
