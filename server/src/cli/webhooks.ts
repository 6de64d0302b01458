/**
 * `reelfeed webhooks`: the first hour with webhooks, without a public address or a certificate.
 *
 * `listen` asks a running service for its events, makes of each the request that a webhook would get,
 * signed with a secret of its own, verifies it as a receiver does, and forwards it. `trigger` makes
 * an event up, which only `listen` and the webhook that is named get. `recover` sends again what failed.
 */
import { randomBytes } from 'node:crypto';
import { verifyWebhook } from '@reelfeed/client/server';
import { signWebhook } from '../features/webhooks/webhooks.ts';
import { duration } from '../platform/config-values.ts';
import { newTypeId } from '../platform/ids.ts';
import { print, UsageError, type Command, type CommandInput } from './command.ts';
import { noServiceAt, serviceUrl } from './open-admin.ts';

const usage = `Usage:
  reelfeed webhooks listen [--forward http://localhost:3000/hook]
  reelfeed webhooks trigger <event> [<webhook id>], for example content.ready
  reelfeed webhooks recover <webhook id> --since <time> [--until <time>]
A time is a timestamp such as 2026-01-31T12:00:00Z, or how long ago it was, such as 24h.
The service is REELFEED_PUBLIC_URL, or http://localhost:$PORT; the key is REELFEED_SECRET_KEY.`;

const pollEveryMs = 500;
/** An event becomes visible when its transaction commits, which may take this long. */
const lookBackMs = 10_000;
const forwardTimeoutMs = 30_000;

export const webhooksCommand: Command = async (input) => {
  const [action = '', subject, ...more] = input.positionals;
  if (action === 'listen' && subject === undefined) return listen(input);
  if (subject !== undefined) {
    if (action === 'trigger' && more.length <= 1) return trigger(input, subject, more);
    if (action === 'recover' && more.length === 0) return recover(input, subject);
  }
  throw new UsageError(usage);
};

async function trigger(
  input: CommandInput,
  event: string,
  webhookIds: readonly string[],
): Promise<void> {
  const body = { event, webhookIds };
  const { data } = (await ask(input, 'POST', '/v1/webhook-events/trigger', body)) as {
    data: { deliveries: number };
  };
  const [webhookId] = webhookIds;
  print(input.json, { event, ...data }, [
    webhookId === undefined
      ? `${event} was recorded as a test; no webhook gets it: name one, or see it with listen.`
      : data.deliveries === 1
        ? `${event} was recorded as a test; ${webhookId} gets it.`
        : `${event} was recorded as a test; ${webhookId} does not get it, by its kinds, its filter or its status.`,
  ]);
}

/** Resends all failed deliveries of the period, one request after another. */
async function recover(input: CommandInput, webhookId: string): Promise<void> {
  if (input.since === undefined) throw new UsageError(`--since is missing.\n\n${usage}`);
  const now = await serviceClock(input);
  const since = momentOf(input.since, now);
  let until = input.until === undefined ? undefined : momentOf(input.until, now);
  let recovered = 0;
  for (let complete = false; !complete;) {
    const path = `/v1/webhooks/${encodeURIComponent(webhookId)}/recover`;
    const body = { since, ...(until !== undefined && { until }) };
    const { data } = (await ask(input, 'POST', path, body)) as {
      data: { recovered: number; complete: boolean; until: string };
    };
    recovered += data.recovered;
    complete = data.complete;
    // The next call must not find what is created meanwhile.
    until = data.until;
  }
  print(input.json, { webhookId, since, until, recovered }, [
    `Failed deliveries that are sent again: ${recovered}.`,
  ]);
}

/** A timestamp as it is, for the service to check, or the moment that was so long ago. */
function momentOf(text: string, now: number): string {
  const ago = duration()(text);
  return 'value' in ago ? new Date(now - ago.value).toISOString() : text;
}

type HappenedEvent = {
  id: string;
  event: string;
  data: unknown;
  timestamp: string;
  /** Made up. */
  test?: true;
};

async function listen(input: CommandInput): Promise<void> {
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const webhookId = newTypeId('whk');
  const { forward } = input;
  if (forward !== undefined && !/^https?:$/.test(URL.parse(forward)?.protocol ?? '')) {
    throw new UsageError(`--forward must be an http or https URL.\n\n${usage}`);
  }
  const ending = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ending.abort());
  // Events from now on, by the clock of the service, which tells it with each answer.
  const startedAt = await serviceClock(input);
  const known = new Map<string, number>();
  print(input.json, { secret }, [
    `Waiting for events${forward === undefined ? '' : `, forwarding to ${forward}`}.`,
    `They are signed with the secret ${secret}`,
  ]);
  while (!ending.signal.aborted) {
    const since = new Date(Math.max(startedAt, (await serviceClock(input)) - lookBackMs));
    for (const event of await eventsSince(input, since)) {
      if (known.has(event.id)) continue;
      known.set(event.id, Date.parse(event.timestamp));
      await receive(event, { input, webhookId, secret, forward });
    }
    for (const [id, at] of known) if (at < since.getTime()) known.delete(id);
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, pollEveryMs);
      ending.signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), {
        once: true,
      });
    });
  }
}

/** Reads all events since a moment, page by page. */
async function eventsSince(input: CommandInput, since: Date): Promise<HappenedEvent[]> {
  const found = new Map<string, HappenedEvent>();
  let from = since.toISOString();
  for (;;) {
    const path = `/v1/webhook-events/recent?since=${encodeURIComponent(from)}&limit=100`;
    const { data } = (await ask(input, 'GET', path)) as { data: HappenedEvent[] };
    const before = found.size;
    for (const event of data) found.set(event.id, event);
    if (data.length < 100 || found.size === before) return [...found.values()];
    from = data.at(-1)?.timestamp ?? from;
  }
}

async function receive(
  { id, event, data, timestamp, test }: HappenedEvent,
  to: { input: CommandInput; webhookId: string; secret: string; forward: string | undefined },
): Promise<void> {
  const { input, webhookId, secret, forward } = to;
  const body = JSON.stringify({ event, data, timestamp, webhookId, test });
  const headers = signWebhook({ webhookId, deliveryId: `dlv_${id}`, timestamp, body }, secret);
  const verified = verifyWebhook(body, headers, secret);
  const result = forward === undefined ? '' : ` → ${await post(forward, body, headers)}`;
  print(input.json, { ...verified, ...(result !== '' && { forwarded: result.slice(3) }) }, [
    `${timestamp} ${event} ${JSON.stringify(data)}${test === true ? ' (a test)' : ''}${result}`,
  ]);
}

/** @returns the status of the answer, or why there was none */
async function post(url: string, body: string, headers: Record<string, string>): Promise<string> {
  const signal = AbortSignal.timeout(forwardTimeoutMs);
  try {
    const answer = await fetch(url, { method: 'POST', body, headers, redirect: 'manual', signal });
    await answer.body?.cancel();
    return String(answer.status);
  } catch (error) {
    const { cause, message } = error as Error;
    return cause instanceof Error ? cause.message : message;
  }
}

/** Milliseconds since 1970 by the service's clock, to the second. */
async function serviceClock(input: CommandInput): Promise<number> {
  const answer = await fetch(`${serviceUrl(input)}/healthz`).catch((error: unknown) => {
    throw new Error(noServiceAt(input), { cause: error });
  });
  await answer.body?.cancel();
  return Date.parse(answer.headers.get('date') ?? '') || Date.now();
}

async function ask(
  input: CommandInput,
  method: string,
  path: string,
  body?: unknown,
): Promise<unknown> {
  const key = input.env['REELFEED_SECRET_KEY'];
  if (key === undefined) throw new UsageError(`REELFEED_SECRET_KEY is not set.\n\n${usage}`);
  const answer = await fetch(`${serviceUrl(input)}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (answer.ok) return JSON.parse(text);
  throw new UsageError(`${method} ${path} was answered ${answer.status}: ${messageOf(text)}`);
}

/** What an error of the service says; the whole text where something else has answered. */
function messageOf(text: string): string {
  try {
    const { error } = JSON.parse(text) as { error?: { message?: unknown } };
    return typeof error?.message === 'string' ? error.message : text;
  } catch {
    return text;
  }
}
