/**
 * `reelfeed webhooks`: lets a developer try webhooks without a public address or a certificate.
 *
 * `listen` reads events from a running service, builds the request that a webhook would get for
 * each, signs it with a temporary secret, verifies it as a receiver does, and forwards it.
 * `trigger` makes up an event that only `listen` and the given webhook receive. `recover` resends
 * failed deliveries.
 */
import { duration } from '../platform/settings/config-values.ts';
import { askService, serviceClock, ServiceAwayError } from './ask-service.ts';
import { print, UsageError, type Command, type CommandInput } from './command.ts';
import { listen } from './webhook-listen.ts';

const usage = `Usage:
  reelfeed webhooks listen [--events content.*,export.ready] [--forward http://localhost:3000/hook]
  reelfeed webhooks trigger <event> [<webhook id>], for example content.ready
  reelfeed webhooks recover <webhook id> --since <time> [--until <time>]
A time is a timestamp such as 2026-01-31T12:00:00Z, or a duration before now such as 24h.
With --json, listen prints one JSON object per line.
The service is REELFEED_PUBLIC_URL or http://localhost:$PORT; the key is REELFEED_SECRET_KEY.`;

export const webhooksCommand: Command = async (input) => {
  try {
    await run(input);
  } catch (error) {
    if (error instanceof ServiceAwayError) throw new UsageError(error.message);
    throw error;
  }
};

async function run(input: CommandInput): Promise<void> {
  const [action = '', subject, ...more] = input.positionals;
  if (action === 'listen' && subject === undefined) return listen(input, usage);
  if (subject !== undefined) {
    if (action === 'trigger' && more.length <= 1) return trigger(input, subject, more);
    if (action === 'recover' && more.length === 0) return recover(input, subject);
  }
  throw new UsageError(usage);
}

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
      ? `Recorded ${event} as a test. It was not sent to any webhook: give a webhook id to send it, or watch it with listen.`
      : data.deliveries === 1
        ? `Recorded ${event} as a test and sent it to ${webhookId}.`
        : `Recorded ${event} as a test. It was not sent to ${webhookId}, whose subscription, filter or status excludes it.`,
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
    // The next call must not include deliveries that are created in the meantime.
    until = data.until;
  }
  print(input.json, { webhookId, since, until, recovered }, [
    `Resending ${recovered} failed deliveries.`,
  ]);
}

/**
 * Returns a timestamp unchanged, for the service to check. Converts a duration to the time that
 * long before `now`.
 */
function momentOf(text: string, now: number): string {
  const ago = duration()(text);
  return 'value' in ago ? new Date(now - ago.value).toISOString() : text;
}

function ask(input: CommandInput, method: string, path: string, body: unknown): Promise<unknown> {
  return askService(input, { method, path, body, usage });
}
