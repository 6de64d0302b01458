/** Webhooks in every state, with successful, failed and waiting deliveries. */
import { startReceiver, type Receiver } from '../receiver.ts';
import { query } from '../seed.ts';
import { eventually, type TestService } from '../service.ts';
import { askOf } from './ask.ts';
import { hostileTexts } from './hostile-texts.ts';

export type WorldReceivers = Record<'taking' | 'refusing' | 'gone' | 'hanging', Receiver>;

export type WorldWebhooks = Record<keyof WorldReceivers | 'disabled' | 'givenUp', string>;

/** The second attempt comes long after the tests, so a delivery that failed once is waiting. */
export const webhookSchedule = '0s,2h';

export async function startReceivers(): Promise<WorldReceivers> {
  const [taking, refusing, gone, hanging] = await Promise.all([
    startReceiver(() => (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end(hostileTexts.script);
    }),
    startReceiver(() => (_request, response) => {
      response.writeHead(500, { 'content-type': 'text/html' }).end(hostileTexts.image);
    }),
    startReceiver(() => 410),
    startReceiver(() => () => undefined),
  ]);
  return { taking, refusing, gone, hanging };
}

export async function buildWebhooks(
  service: TestService,
  receivers: WorldReceivers,
): Promise<WorldWebhooks> {
  const ask = askOf(service);
  const make = async (url: string, fields: object = {}): Promise<string> => {
    const description = hostileTexts.svg;
    const body = { url, events: ['*'], description, ...fields };
    return (await ask('POST', '/v1/webhooks', body)).id;
  };
  const unusual = {
    headers: { 'X-Gateway-Key': 'hidden' },
    rateLimit: 5,
    retrySchedule: [0, 7_200],
    timeout: 20,
    payloadVersion: 2,
    rotationOverlap: 86_400,
    orderedBy: 'contentId',
    signature: 'ed25519',
    customer: hostileTexts.script.slice(0, 100),
  };
  const ids = {
    taking: await make(`${receivers.taking.url}?q=${encodeURIComponent(hostileTexts.arabic)}`),
    refusing: await make(receivers.refusing.url, unusual),
    gone: await make(receivers.gone.url),
    hanging: await make(receivers.hanging.url, { events: ['experiment.*', 'export.ready'] }),
    disabled: await make(receivers.taking.url, {
      filter: { title: { prefix: hostileTexts.image } },
      oauth: {
        tokenUrl: receivers.taking.url,
        clientId: hostileTexts.image,
        clientSecret: 'hidden',
      },
    }),
    givenUp: await make(receivers.refusing.url),
  };
  for (const customer of [unusual.customer, hostileTexts.arabic.slice(0, 100)]) {
    await ask('POST', '/v1/webhook-portal-links', { customer });
  }
  const webhookIds = Object.values(ids);
  for (const event of ['export.ready', 'content.errored']) {
    await ask('POST', '/v1/webhook-events/trigger', { event, webhookIds });
  }
  await ask('POST', `/v1/webhooks/${ids.taking}/test`, { event: 'content.ready' });
  await eventually('deliveries of each outcome', async () => {
    const has = async (id: string, status: string) =>
      (await ask('GET', `/v1/webhooks/${id}/deliveries?status=${status}`)).length > 0;
    const found = await Promise.all([
      has(ids.taking, 'success'),
      has(ids.gone, 'failed'),
      has(ids.refusing, 'pending'),
    ]);
    return found.every(Boolean) ? true : null;
  });
  await ask('PATCH', `/v1/webhooks/${ids.disabled}`, { status: 'disabled' });
  await query(
    service,
    `update webhook set status = 'disabled', disabled_reason = 'failing',
       failing_since = clock_timestamp() - interval '6 days', revision = revision + 1
     where webhook_id = $1`,
    [ids.givenUp],
  );
  return ids;
}
