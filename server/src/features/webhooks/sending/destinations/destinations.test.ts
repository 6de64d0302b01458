/** Runs every driver against a real server. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo, LookupFunction } from 'node:net';
import { test } from 'node:test';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect as connectNats } from '@nats-io/transport-node';
import { connect as connectRabbit } from 'amqplib';
import { verifyWebhook } from '@reelfeed/client/server';
import { atEnd } from '../../../../../test/database.ts';
import { receiverCertificate, startReceiver } from '../../../../../test/receiver.ts';
import { startS3 } from '../../../../../test/s3-server.ts';
import { eventually } from '../../../../../test/waiting.ts';
import { parseAllowList } from '../../../../platform/egress/allow-list.ts';
import { createEgress } from '../../../../platform/egress/egress.ts';
import { allEnded, startWebhookService } from '../../../../../test/webhooks/webhooks.ts';
import {
  isListening,
  lacksNats,
  lacksRabbit,
  startNats,
  startRabbit,
  type Broker,
} from '../../../../../test/webhooks/brokers.ts';
import { testDestination, type Subject } from './conformance.ts';

const service = await startWebhookService({
  REELFEED_EGRESS_ALLOW: '127.0.0.0/8',
  REELFEED_WEBHOOK_RETRY_SCHEDULE: '0s',
});
const nothingSecret = 'guessed-wrong-secret';

async function httpsSubject(): Promise<Subject> {
  const receiver = await startReceiver(({ path }) => (path.endsWith('/gone') ? 404 : 204));
  return {
    port: Number(new URL(receiver.url).port),
    url: (port) => `https://127.0.0.1:${port}/hook`,
    destination: { type: 'https' },
    credentials: {},
    received: async () =>
      receiver.requests.map(({ body, headers }) => ({
        id: String(headers['webhook-id']),
        body,
        headers,
      })),
    repeats: 2,
    closed: { destination: { type: 'https' }, failure: 204 },
    refused: null,
  };
}

/** @param broker with TLS, or null for the local one without */
async function natsSubject(broker: Broker | null): Promise<Subject> {
  const { port, access } = broker ?? { port: 4_222, access: null };
  const { username, password } = { username: undefined, password: undefined, ...access };
  const byToken = password !== undefined && username === undefined;
  const connection = await connectNats({
    servers: [`127.0.0.1:${port}`],
    ...(broker !== null && { tls: {} }),
    ...(byToken && { token: password }),
    ...(username !== undefined && { user: username, pass: access?.password ?? '' }),
  });
  atEnd(() => connection.close());
  const manager = await jetstreamManager(connection);
  const stream = `hooks-${randomUUID()}`;
  await manager.streams.add({ name: stream, subjects: [`${stream}.>`], storage: 'memory' });
  atEnd(async () => void (await manager.streams.delete(stream)));
  const named = username === undefined ? {} : { username };
  const credentialsOf = (secret: string) => ({
    destination: byToken ? { token: secret } : { password: secret },
  });
  return {
    port,
    url: (at) => `${broker === null ? 'nats' : 'tls'}://127.0.0.1:${at}`,
    destination: { type: 'nats', subject: `${stream}.{event}`, ...named },
    credentials: password === undefined ? {} : credentialsOf(password),
    async received() {
      const { state } = await manager.streams.info(stream);
      const found = [];
      for (let seq = state.first_seq; seq <= state.last_seq && state.messages > 0; seq += 1) {
        const message = await manager.streams.getMessage(stream, { seq });
        if (message === null) continue;
        assert.equal(message.subject, `${stream}.content.ready`);
        const names = message.header.keys();
        const headers = Object.fromEntries(names.map((name) => [name, message.header.get(name)]));
        const id = message.header.get('Nats-Msg-Id');
        found.push({ id, body: message.string(), headers });
      }
      return found;
    },
    repeats: 1,
    closed: {
      destination: { type: 'nats', subject: `none-${stream}`, ...named },
      failure: 'rejected',
    },
    refused:
      broker === null ? null : { credentials: credentialsOf(nothingSecret), failure: 'rejected' },
  };
}

/** @param broker with TLS, or null for the local one without */
async function rabbitSubject(broker: Broker | null): Promise<Subject> {
  const port = broker?.port ?? 5_672;
  const { username = 'guest', password } = broker?.access ?? { password: 'guest' };
  const scheme = broker === null ? 'amqp' : 'amqps';
  const connection = await connectRabbit(`${scheme}://${username}:${password}@127.0.0.1:${port}`);
  atEnd(() => connection.close());
  const channel = await connection.createChannel();
  const queue = `hooks-${randomUUID()}`;
  const exchange = `${queue}-exchange`;
  await channel.assertQueue(queue, { autoDelete: true });
  await channel.assertExchange(exchange, 'topic', { autoDelete: true });
  await channel.bindQueue(queue, exchange, 'reelfeed.#');
  const found: { id: string; body: string; headers: object }[] = [];
  await channel.consume(
    queue,
    (message) => {
      if (message === null) return;
      const { headers = {}, messageId } = message.properties;
      assert.equal(message.fields.routingKey, 'reelfeed.content.ready');
      found.push({ id: String(messageId), body: message.content.toString('utf8'), headers });
    },
    { noAck: true },
  );
  const destination = { type: 'rabbitmq', exchange, routingKey: 'reelfeed.{event}' } as const;
  return {
    port,
    url: (at) => `${scheme}://127.0.0.1:${at}/`,
    destination: { ...destination, username },
    credentials: { destination: { password } },
    async received() {
      // The queue has been read once a marker sent after all other messages comes back.
      const marker = randomUUID();
      channel.publish(exchange, 'reelfeed.content.ready', Buffer.from(''), { messageId: marker });
      await eventually('the queue', async () => found.some(({ id }) => id === marker) || null);
      return found.filter(({ body }) => body !== '');
    },
    repeats: 2,
    closed: {
      destination: { ...destination, routingKey: 'nobody', username },
      failure: 'rejected',
    },
    refused: {
      credentials: { destination: { password: nothingSecret } },
      failure: 'rejected',
    },
  };
}

/** The S3 test server with TLS. */
async function s3Subject(): Promise<Subject> {
  const s3 = await startS3({ bucket: 'hooks' });
  const { port: toPort } = new URL(s3.endpoint);
  const server = createServer(receiverCertificate, (request, response) => {
    const { method, url: path, headers } = request;
    const onward = httpRequest({ host: '127.0.0.1', port: toPort, method, path, headers });
    onward.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    request.pipe(onward);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { accessKeyId, secretAccessKey } = s3.credentials;
  const destination = {
    type: 's3',
    bucket: 'hooks',
    region: 'us-east-1',
    prefix: 'events/',
    accessKeyId,
  } as const;
  return {
    port: (server.address() as AddressInfo).port,
    url: (port) => `https://127.0.0.1:${port}/`,
    destination,
    credentials: { destination: { password: secretAccessKey } },
    received: async () =>
      [...s3.objects].map(([name, { bytes }]) => ({
        id: /^events\/\d{4}-\d\d-\d\d\/content\.ready\/(dlv_\w+)\.json$/.exec(name)?.[1] ?? name,
        body: bytes.toString('utf8'),
        headers: null,
      })),
    repeats: 1,
    closed: { destination: { ...destination, bucket: 'other' }, failure: 404 },
    refused: { credentials: { destination: { password: nothingSecret } }, failure: 403 },
  };
}

const lacksPort = async (port: number) =>
  (await isListening(port)) ? null : `no server listens on 127.0.0.1:${port}`;

/** The destinations, with the reason if one can't be tested here. */
const subjects: Record<string, { lacks: string | null; make: () => Promise<Subject> }> = {
  https: { lacks: null, make: httpsSubject },
  nats: { lacks: await lacksPort(4_222), make: () => natsSubject(null) },
  'nats, TLS and a password': {
    lacks: lacksNats(),
    make: async () => natsSubject(await startNats('password')),
  },
  'nats, TLS and a token': {
    lacks: lacksNats(),
    make: async () => natsSubject(await startNats('token')),
  },
  rabbitmq: { lacks: await lacksPort(5_672), make: () => rabbitSubject(null) },
  'rabbitmq, TLS': { lacks: lacksRabbit(), make: async () => rabbitSubject(await startRabbit()) },
  s3: { lacks: null, make: s3Subject },
};

// All servers are started before the first test, because finished tests would stop those still
// starting.
const made = await Promise.all(
  Object.entries(subjects).map(async ([name, { lacks, make }]) => {
    return { name, lacks, subject: lacks === null ? await make() : null };
  }),
);
for (const { name, lacks, subject } of made) {
  if (subject === null) {
    test(name, { skip: lacks ?? true }, () => undefined);
    continue;
  }
  testDestination(name, subject);
  test(`${name}: a webhook delivers there, and shows no credentials`, async () => {
    await deliver(subject);
  });
}

async function deliver({ port, url, destination, credentials, received }: Subject): Promise<void> {
  const { password, token } = credentials.destination ?? {};
  const secret = destination.type === 's3' ? { secretAccessKey: password } : { password };
  const given = {
    ...destination,
    ...(password !== undefined && secret),
    ...(token !== undefined && { token }),
  };
  const body = { url: url(port), events: ['content.ready'], destination: given };
  const made = await service.call('POST', '/v1/webhooks', { body });
  assert.equal(made.status, 201, made.text);
  const { id, secret: key } = made.body.data;
  assert.deepEqual(made.body.data.destination, destination);
  await service.cause('Through the service');
  await allEnded(service.db);
  const [delivery] = await service.deliveries(id);
  assert.equal(delivery?.status, 'success', JSON.stringify(delivery));
  const found = (await received()).find(({ body: text }) => text.includes(id));
  assert.ok(found !== undefined);
  assert.deepEqual(JSON.parse(found.body), delivery.payload);
  if (found.headers !== null) {
    const headers = found.headers as Record<string, string>;
    assert.equal(verifyWebhook(found.body, headers, key).deliveryId, delivery.id);
  }
  const tested = await service.call('POST', `/v1/webhooks/${id}/test`, {
    body: { event: 'content.ready' },
  });
  assert.equal(tested.body.data.status, 'success', tested.text);
  const audit = await service.call('GET', '/v1/audit');
  const kept = password ?? token;
  if (kept !== undefined && kept !== 'guest') {
    assert.ok(!`${made.text}${audit.text}`.includes(kept), 'no answer holds the secret');
  }
  await service.call('DELETE', `/v1/webhooks/${id}`);
}

test('a broker without TLS is reached only if the operator has allowed it', async () => {
  const publicAddress: LookupFunction = (_name, _options, callback) =>
    callback(null, [{ address: '93.184.216.34', family: 4 }]);
  const egress = createEgress({ allow: parseAllowList([]), lookup: publicAddress });
  for (const url of ['nats://broker.example.com', 'amqp://broker.example.com']) {
    const schemes = ['nats:', 'amqp:'] as const;
    await assert.rejects(egress.resolve(url, schemes), { failure: 'invalid_url' });
    await assert.rejects(egress.checkUrl(url, { schemes }), { failure: 'invalid_url' });
  }
  const found = await egress.resolve('amqps://broker.example.com/v', ['amqps:']);
  assert.deepEqual(found, { host: 'broker.example.com', port: 5_671, address: '93.184.216.34' });
  await egress[Symbol.asyncDispose]();
});
