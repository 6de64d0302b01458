/**
 * `reelfeed webhooks listen`: shows events as they happen, and forwards them one after another.
 *
 * 1. Each read starts `lookBackMs` before the previous read began, no matter how long a forward
 *    took, because an event becomes visible only when its transaction commits. Events already shown
 *    are recognized by their ids.
 * 2. While the service is down, the command keeps retrying. Events that happened in between follow
 *    once it is back.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { verifyWebhook } from '@reelfeed/client/server';
import { isSubscribed, signWebhook } from '../features/webhooks/webhooks.ts';
import { newTypeId } from '../platform/values/ids.ts';
import { askService, serviceClock, ServiceAwayError } from './ask-service.ts';
import { UsageError, type CommandInput } from './command.ts';

const pollEveryMs = 500;
/** The longest that a transaction that records an event may take. */
const lookBackMs = 10_000;
const forwardTimeoutMs = 30_000;
const pageSize = 100;

type HappenedEvent = {
  id: string;
  event: string;
  data: unknown;
  timestamp: string;
  /** True for an event that `trigger` made up. */
  test?: true;
};

/** Options for handling events. */
type Listener = {
  readonly input: CommandInput;
  readonly usage: string;
  readonly webhookId: string;
  readonly secret: string;
  /** Kinds and patterns such as `content.*`. */
  readonly events: readonly string[];
  readonly ending: AbortSignal;
};

/** Shows, verifies and forwards events until SIGINT or SIGTERM. */
export async function listen(input: CommandInput, usage: string): Promise<void> {
  const { forward } = input;
  if (forward !== undefined && !/^https?:$/.test(URL.parse(forward)?.protocol ?? '')) {
    throw new UsageError(`--forward must be an http or https URL.\n\n${usage}`);
  }
  const ending = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ending.abort());
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const events = await readFilter(input, usage);
  const webhookId = newTypeId('whk');
  const listener = { input, usage, webhookId, secret, events, ending: ending.signal };
  // Starts with events from now, by the clock of the service, which each of its responses contains.
  const startedAt = await serviceClock(input);
  say(
    input,
    { secret },
    `Waiting for events${forward === undefined ? '' : `, forwarding to ${forward}`}.\n` +
      `Forwarded events are signed with the secret ${secret}`,
  );
  await follow(listener, startedAt);
}

async function follow(listener: Listener, startedAt: number): Promise<void> {
  const { input, ending } = listener;
  /** Times of handled events, by id, for events that the next read may return again. */
  const handled = new Map<string, number>();
  let since = startedAt;
  let isAway = false;
  while (!ending.aborted) {
    try {
      const readAt = await serviceClock(input);
      for (const event of await eventsSince(listener, since)) {
        if (handled.has(event.id)) continue;
        if (ending.aborted) return;
        await handle(event, listener);
        handled.set(event.id, Date.parse(event.timestamp));
      }
      since = Math.max(startedAt, readAt - lookBackMs);
      for (const [id, at] of handled) if (at < since) handled.delete(id);
      if (isAway) process.stderr.write('The service is available again.\n');
      isAway = false;
    } catch (error) {
      if (!(error instanceof ServiceAwayError)) throw error;
      if (!isAway) process.stderr.write(`The service is not responding; waiting for it.\n`);
      isAway = true;
    }
    await delay(pollEveryMs, undefined, { signal: ending }).catch(() => undefined);
  }
}

/** @throws UsageError if the service has no such kind */
async function readFilter(input: CommandInput, usage: string): Promise<string[]> {
  if (input.events === undefined) return ['*'];
  const events = input.events.split(',').map((event) => event.trim());
  const { data } = (await askService(input, {
    method: 'GET',
    path: '/v1/webhook-events',
    usage,
  })) as { data: { event: string }[] };
  for (const event of events) {
    if (data.some((kind) => isSubscribed([event], kind.event))) continue;
    const kinds = data.map((kind) => kind.event).join(', ');
    throw new UsageError(`--events: unknown event "${event}". The known events are ${kinds}.`);
  }
  return events;
}

/** Reads all events since a given time, page by page. */
async function eventsSince(listener: Listener, since: number): Promise<HappenedEvent[]> {
  const { input, usage } = listener;
  const found = new Map<string, HappenedEvent>();
  let from = new Date(since).toISOString();
  for (;;) {
    const path = `/v1/webhook-events/recent?since=${encodeURIComponent(from)}&limit=${pageSize}`;
    const asked = { method: 'GET', path, usage };
    const { data } = (await askService(input, asked)) as { data: HappenedEvent[] };
    const before = found.size;
    for (const event of data) found.set(event.id, event);
    if (data.length < pageSize || found.size === before) return [...found.values()];
    from = data.at(-1)?.timestamp ?? from;
  }
}

async function handle(
  { id, event, data, timestamp, test }: HappenedEvent,
  { input, webhookId, secret, events, ending }: Listener,
): Promise<void> {
  if (!isSubscribed(events, event)) return;
  const body = JSON.stringify({ event, data, timestamp, webhookId, test });
  const headers = signWebhook({ webhookId, deliveryId: `dlv_${id}`, timestamp, body }, secret);
  const verified = verifyWebhook(body, headers, secret);
  const { forward } = input;
  const forwarded = forward && (await post(forward, body, headers, ending));
  const line = `${timestamp} ${event} ${JSON.stringify(data)}${test === true ? ' (a test)' : ''}`;
  if (forwarded === undefined) say(input, verified, line);
  else say(input, { ...verified, forwarded }, `${line} → ${forwarded}`);
}

/** @returns the status of the response, or the reason why there was none */
async function post(
  url: string,
  body: string,
  headers: Record<string, string>,
  ending: AbortSignal,
): Promise<string> {
  const signal = AbortSignal.any([AbortSignal.timeout(forwardTimeoutMs), ending]);
  try {
    const answer = await fetch(url, { method: 'POST', body, headers, redirect: 'manual', signal });
    await answer.body?.cancel();
    return String(answer.status);
  } catch (error) {
    const { cause, message } = error as Error;
    return cause instanceof Error ? cause.message : message;
  }
}

/** Prints one result of a stream: an object per line as JSON, or lines for people. */
function say(input: CommandInput, result: unknown, line: string): void {
  process.stdout.write(`${input.json ? JSON.stringify(result) : line}\n`);
}
