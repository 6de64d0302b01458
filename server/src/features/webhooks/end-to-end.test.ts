/**
 * Runs the service as a process with its own database, as an operator starts it, and a receiver
 * with a certificate from the operator's own certificate authority.
 */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { verifyWebhook } from '@reelfeed/client/server';
import { Webhook } from 'standardwebhooks';
import { mediaSample } from '../../../test/media-samples.ts';
import { ready, startMain } from '../../../test/processes.ts';
import { authority, startReceiver, type Received } from '../../../test/receiver.ts';
import { eventually, send, temporaryFolder, type Call } from '../../../test/service.ts';
import { generateKey } from '../keys/keys.ts';
import { example } from './guide.fixture.ts';

type PlainVerify = {
  verify(rawBody: string, headers: Received['headers'], secret: string): unknown;
};

/** The guide's example of verifying a signature without a library. */
const plain = (await import(
  `data:text/javascript,${encodeURIComponent(example('plain'))}`
)) as PlainVerify;

const dataDir = await temporaryFolder();
const caFile = path.join(dataDir, 'own-authority.pem');
await writeFile(caFile, authority.cert);
const receiver = await startReceiver();
const secretKey = generateKey('secret');
const running = startMain({
  env: {
    PORT: '0',
    REELFEED_HOST: '127.0.0.1',
    REELFEED_DATA_DIR: dataDir,
    REELFEED_SECRET_KEY: secretKey,
    REELFEED_MIN_FREE_BYTES: '0',
    REELFEED_EGRESS_ALLOW: receiver.allow,
    NODE_EXTRA_CA_CERTS: caFile,
  },
});
const url = await ready(running);

async function call(method: string, target: string, options: Call = {}) {
  const answer = await send(`${url}${target}`, method, { key: secretKey, ...options });
  assert.ok(answer.status < 300, `${method} ${target}: ${answer.text}`);
  return answer;
}

async function register(events: string[]): Promise<{ id: string; secret: string }> {
  return (await call('POST', '/v1/webhooks', { body: { url: receiver.url, events } })).body.data;
}

const received = (event: string) =>
  eventually(
    event,
    async () => receiver.requests.find(({ body }) => JSON.parse(body).event === event) ?? null,
    120_000,
  );

const { id, secret } = await register(['content.ready']);

test('a real upload arrives as content.ready, and three ways of verifying accept it', async () => {
  const form = new FormData();
  form.set('title', 'Löwe 🦁');
  form.set('file', new Blob([await readFile(await mediaSample('small.mp4'))]), 'small.mp4');
  const upload = await call('POST', '/v1/content/upload', { body: form });
  const { headers, body } = await received('content.ready');

  const event = verifyWebhook<{ title: string; duration: number }>(body, headers, secret);
  assert.deepEqual(event.data, {
    contentId: upload.body.data.id,
    title: 'Löwe 🦁',
    duration: event.data.duration,
    status: 'ready',
  });
  assert.ok(Math.abs(event.data.duration - 2) < 0.2);
  assert.equal(event.webhookId, id);
  const standard = new Webhook(secret).verify(body, headers as Record<string, string>);
  assert.deepEqual(standard, JSON.parse(body));
  assert.deepEqual(plain.verify(body, headers, secret), JSON.parse(body));
  const forged = body.replace('ready', 'gone');
  assert.throws(() => verifyWebhook(forged, headers, secret));
  assert.throws(() => new Webhook(secret).verify(forged, headers as Record<string, string>));
  assert.throws(() => plain.verify(forged, headers, secret));

  assert.deepEqual(Object.keys(JSON.parse(body)), ['event', 'data', 'timestamp', 'webhookId']);
  assert.equal(headers['content-type'], 'application/json');
  assert.equal(headers['x-service-timestamp'], event.timestamp);
  assert.equal(headers['x-service-webhook-id'], id);
  assert.equal(headers['x-service-delivery-id'], event.deliveryId);
  assert.equal(headers['x-service-attempt'], '1');
  assert.match(String(headers['x-service-timestamp']), /^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/);

  const delivery = await eventually('the record', async () => {
    const { data } = (await call('GET', `/v1/webhooks/${id}/deliveries?status=success`)).body;
    return data[0] ?? null;
  });
  assert.equal(delivery.id, event.deliveryId);
  assert.equal(delivery.statusCode, 204);
  assert.deepEqual(delivery.payload, JSON.parse(body));
});

test('each attempt is one line of the log, without the URL, and counted in the metrics', async () => {
  const [{ headers }] = receiver.requests as [Received];
  const deliveryId = headers['x-service-delivery-id'];
  const lines = running.output.stderr
    .split('\n')
    .filter((line) => line.includes('"webhook attempt"'))
    .map((line) => JSON.parse(line))
    .filter((line) => line.deliveryId === deliveryId);
  assert.equal(lines.length, 1);
  const { webhookId, event, host, attempt, outcome, statusCode, error } = lines[0];
  assert.deepEqual(
    { webhookId, event, host, attempt, outcome, statusCode, error },
    {
      webhookId: id,
      event: 'content.ready',
      host: new URL(receiver.url).host,
      attempt: 1,
      outcome: 'success',
      statusCode: 204,
      error: null,
    },
  );
  assert.ok(lines[0].lagMs >= 0 && lines[0].responseTimeMs >= 0);
  assert.ok(!running.output.stderr.includes(receiver.url));

  const { text } = await send(`${url}/metrics`, 'GET');
  for (const sample of [
    'webhook_delivery_attempts_total{outcome="success",error="none"} 1',
    'webhook_delivery_attempt_duration_seconds_count 1',
    'webhook_delivery_lag_seconds_count 1',
    'webhook_queue_depth{state="ready"} 0',
    'webhook_queue_depth{state="scheduled"} 0',
    'webhook_oldest_due_age_seconds 0',
    'webhook_sends_under_way 0',
  ]) {
    assert.ok(
      text.split('\n').includes(sample),
      `${sample} in ${text.match(/^webhook.*/gm)?.join('\n')}`,
    );
  }
});

test('a test send is a line of the log as well, and says so', async () => {
  const body = { event: 'content.ready' };
  const { data } = (await call('POST', `/v1/webhooks/${id}/test`, { body })).body;
  const line = await eventually('its line', async () => {
    const lines = running.output.stderr.split('\n');
    const isIts = (one: string) =>
      one.includes(data.deliveryId) && one.includes('"webhook attempt"');
    return lines.find(isIts) ?? null;
  });
  const { isTest, outcome, statusCode, attempt } = JSON.parse(line);
  assert.deepEqual([isTest, outcome, statusCode, attempt], [true, 'success', 204, 1]);
});

test('the end of a bulk job arrives as bulk_job.complete, in the shape of its test send', async () => {
  const webhook = await register(['bulk_job.complete']);
  const body = { operation: 'tag', filter: { contentType: 'video' }, update: { addTags: ['x'] } };
  const job = (await call('POST', '/v1/content/bulk/jobs', { body })).body.data;
  const real = await received('bulk_job.complete');
  const { data } = verifyWebhook<Record<string, unknown>>(real.body, real.headers, webhook.secret);
  const shown = (await call('GET', `/v1/content/bulk/jobs/${job.jobId}`)).body.data;
  assert.deepEqual(data, { ...shown, operation: 'tag' });
  assert.deepEqual([data['status'], data['successfulItems']], ['complete', 1]);

  receiver.requests.length = 0;
  await call('POST', `/v1/webhooks/${webhook.id}/test`, { body: { event: 'bulk_job.complete' } });
  const sample = await received('bulk_job.complete');
  assert.deepEqual(
    Object.keys(JSON.parse(sample.body).data).toSorted(),
    Object.keys(data).toSorted(),
  );
});
