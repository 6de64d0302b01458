/**
 * Posts events over keep-alive connections, each request with fresh ids, and counts the responses.
 * Requests are templates with ids patched in place, so that generating load takes little of the CPU
 * it shares with the server.
 */
import { connect, type Socket } from 'node:net';
import { randomUUID } from 'node:crypto';

export type EventLoad = {
  url: string;
  path: string;
  key: string;
  contentIds: readonly string[];
  /** 0 sends a single event without a batch. */
  eventsInBatch: number;
  connections: number;
  seconds: number;
  /** Whether ids are in chronological order (UUIDv7), like those of the client library. */
  orderedIds?: boolean;
  /** How long a connection waits after a 503. Default: 0. */
  pauseAfterRefusalMs?: number;
};

/** Requests by outcome. */
type Answers = {
  stored: number;
  /** 503 with `Retry-After`. */
  refused: number;
  /** All other responses. */
  failed: number;
};

export type EventLoadResult = Answers & {
  /** Over all responses. */
  requestsPerSecond: number;
  p50Ms: number;
  p99Ms: number;
};

export async function loadEvents(load: EventLoad): Promise<EventLoadResult> {
  const endsAt = performance.now() + load.seconds * 1_000;
  const latencies: number[] = [];
  const startedAt = performance.now();
  const answers: Answers = { stored: 0, refused: 0, failed: 0 };
  await Promise.all(
    Array.from({ length: load.connections }, (_, number) =>
      drive(load, number, endsAt, { latencies, answers }),
    ),
  );
  const seconds = (performance.now() - startedAt) / 1_000;
  const sorted = Float64Array.from(latencies).sort();
  const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN;
  return {
    ...answers,
    requestsPerSecond: latencies.length / seconds,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
  };
}

/** One connection, which sends the next request after each response. */
function drive(
  load: EventLoad,
  number: number,
  endsAt: number,
  { latencies, answers }: { latencies: number[]; answers: Answers },
): Promise<void> {
  const { hostname, port } = new URL(load.url);
  const template = new RequestTemplate(load, number);
  const ended = Promise.withResolvers<void>();
  const socket: Socket = connect(Number(port), hostname);
  socket.setNoDelay(true);
  let sentAt = 0;
  let answer = '';
  const send = () => {
    sentAt = performance.now();
    socket.write(template.next());
  };
  socket.on('connect', send).on('error', ended.reject);
  socket.on('data', (chunk: Buffer) => {
    answer += chunk.toString('latin1');
    const head = answer.indexOf('\r\n\r\n');
    if (head < 0) return;
    const length = Number(/content-length: (\d+)/i.exec(answer)?.[1] ?? 0);
    if (answer.length < head + 4 + length) return;
    const kind = kindOf(answer);
    answers[kind] += 1;
    answer = '';
    const now = performance.now();
    latencies.push(now - sentAt);
    if (now >= endsAt) {
      socket.end();
      ended.resolve();
    } else if (kind === 'refused') {
      setTimeout(send, load.pauseAfterRefusalMs ?? 0);
    } else {
      send();
    }
  });
  return ended.promise;
}

function kindOf(answer: string): keyof Answers {
  if (answer.startsWith('HTTP/1.1 200')) return /"failed":[1-9]/.test(answer) ? 'failed' : 'stored';
  const isRefusal = answer.startsWith('HTTP/1.1 503') && /\r\nretry-after: \d/i.test(answer);
  return isRefusal ? 'refused' : 'failed';
}

const idMark = '01990000-0000-7000-8000-000000000000';

/** The bytes of a request, in which only the ids of its events change. */
class RequestTemplate {
  readonly #bytes: Buffer;
  readonly #places: number[] = [];
  readonly #isOrdered: boolean;
  readonly #connection: string;
  #count = 0;

  constructor(load: EventLoad, connection: number) {
    const body = JSON.stringify(bodyOf(load, connection));
    const head =
      `POST ${load.path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer ${load.key}\r\n` +
      'User-Agent: Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X)\r\n' +
      `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n`;
    this.#bytes = Buffer.from(head + body);
    for (let at = this.#bytes.indexOf(idMark); at >= 0; at = this.#bytes.indexOf(idMark, at + 1)) {
      this.#places.push(at);
    }
    this.#isOrdered = load.orderedIds ?? true;
    // Random prefixes could collide, and the service would count equal events only once.
    this.#connection = connection.toString(16).padStart(4, '0');
  }

  next(): Buffer {
    const ms = Date.now().toString(16).padStart(12, '0');
    const time = `${ms.slice(0, 8)}-${ms.slice(8)}`;
    for (const place of this.#places) {
      this.#count += 1;
      if (!this.#isOrdered) {
        this.#bytes.write(randomUUID(), place, 'latin1');
        continue;
      }
      this.#bytes.write(time, place, 'latin1');
      const tail = this.#connection + this.#count.toString(16).padStart(8, '0');
      this.#bytes.write(tail, place + 24, 'latin1');
    }
    return this.#bytes;
  }
}

function bodyOf({ eventsInBatch, contentIds }: EventLoad, connection: number): unknown {
  const event = (n: number) => ({
    eventId: idMark,
    event: kinds[n % kinds.length],
    contentId: contentIds[(n * 7 + connection * 13) % contentIds.length],
    userId: `user-${connection}-${n % 10}`,
    deviceId: `device-${connection}`,
    sessionId: `session-${connection}-${n % 10}`,
    timestamp: new Date().toISOString(),
    data: data[kinds[n % kinds.length] ?? 'like'],
  });
  if (eventsInBatch === 0) return event(connection);
  return { events: Array.from({ length: eventsInBatch }, (_, n) => event(n)) };
}

/** Most events of a feed are progress. */
const kinds = [
  'impression',
  'playStart',
  'watchProgress',
  'watchProgress',
  'watchProgress',
  'like',
];
const data: Record<string, object> = {
  impression: { position: 3, entryPoint: 'feed', feedId: 'fed_01jtestfeedid' },
  playStart: { startupTime: 180, rendition: '720p', codec: 'avc1.64001f', autoplay: true },
  watchProgress: { currentTime: 7.25, duration: 15, percentComplete: 48.3, rendition: '720p' },
  like: {},
};
