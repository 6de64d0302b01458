/**
 * Proves that traces connect a request to its job and its webhook, and that a trace receiver can't
 * harm the service.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { json } from 'node:stream/consumers';
import { test } from 'node:test';
import { generateKey } from '../src/features/keys/key-format.ts';
import { atEnd, cloneDatabase } from './database.ts';
import { mediaSample } from './media-samples.ts';
import { ready, startMain, type RunningProcess } from './processes.ts';
import { authority, startReceiver } from './receiver.ts';
import { eventually, freePort, send, temporaryFolder, toUrl, type Call } from './service.ts';
import { until } from './waiting.ts';

type Value = { stringValue?: string; intValue?: number; boolValue?: boolean };
type Span = {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  attributes: { key: string; value: Value }[];
  status: { code?: number; message?: string };
};
type Export = {
  resourceSpans: {
    resource: { attributes: { key: string; value: Value }[] };
    scopeSpans: { spans: Span[] }[];
  }[];
};

type Answer = (request: IncomingMessage, response: ServerResponse, count: number) => void;
const taken: Answer = (_request, response) =>
  response.setHeader('content-type', 'application/json').end('{}');

/** An OTLP/HTTP receiver that stores what it receives. */
async function startCollector(answer: Answer = taken, port = 0) {
  const spans: Span[] = [];
  const requests: { path: string; authorization: string; service: string }[] = [];
  const server: Server = createServer((request, response) => {
    void (json(request) as Promise<Export>).then(({ resourceSpans }) => {
      for (const { resource, scopeSpans } of resourceSpans) {
        requests.push({
          path: request.url ?? '',
          authorization: request.headers.authorization ?? '',
          service: text(resource.attributes, 'service.name'),
        });
        spans.push(...scopeSpans.flatMap((scope) => scope.spans));
      }
      answer(request, response, requests.length);
    });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  atEnd(async () => {
    server.close();
    server.closeAllConnections();
  });
  const { port: listening } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${listening}`, spans, requests };
}

function text(attributes: Span['attributes'], name: string): string {
  const value = attributes.find(({ key }) => key === name)?.value;
  return String(value?.stringValue ?? value?.intValue ?? '');
}

const secretKey = generateKey('secret');

async function start(env: Record<string, string>) {
  const dataDir = await temporaryFolder();
  const authorityFile = path.join(dataDir, 'authority.pem');
  await writeFile(authorityFile, authority.cert);
  const running = startMain({
    env: {
      PORT: '0',
      REELFEED_DATA_DIR: dataDir,
      DATABASE_URL: toUrl(await cloneDatabase()),
      REELFEED_SECRET_KEY: secretKey,
      REELFEED_MIN_FREE_BYTES: '0',
      REELFEED_DRAIN_DELAY: '0s',
      REELFEED_MEDIA_NICENESS: '0',
      NODE_EXTRA_CA_CERTS: authorityFile,
      ...env,
    },
  });
  const url = await ready(running);
  const call = (method: string, target: string, options: Call = {}) =>
    send(`${url}${target}`, method, { key: secretKey, ...options });
  return { running, call };
}

function logLines({ output }: RunningProcess): Record<string, unknown>[] {
  return output.stderr
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}'))
    .map((line) => JSON.parse(line));
}

async function stop({ child, ended }: RunningProcess): Promise<void> {
  child.kill('SIGTERM');
  assert.equal((await ended).code, 0);
}

test('the upload of a video is one trace, from the request to the webhook', async () => {
  const collector = await startCollector();
  const receiver = await startReceiver();
  const { running, call } = await start({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20hunter2',
    OTEL_SERVICE_NAME: 'clips',
    REELFEED_EGRESS_ALLOW: receiver.allow,
  });
  const events = ['content.ready'];
  await call('POST', '/v1/webhooks', { body: { url: `${receiver.url}?token=hunter3`, events } });
  const form = new FormData();
  form.set('title', 'A clip');
  form.set('file', new Blob([await readFile(await mediaSample('small.mp4'))]), 'small.mp4');
  const strange = '0af7651916cd43dd8448eb211c80319c';
  const uploaded = await call('POST', '/v1/content/upload', {
    body: form,
    headers: { traceparent: `00-${strange}-b7ad6b7169203331-01` },
  });
  assert.equal(uploaded.status, 201);
  const { headers } = await eventually(
    'the webhook',
    async () => receiver.requests[0] ?? null,
    180_000,
  );
  const named = (name: string) => collector.spans.find((span) => span.name === name);
  await until('the attempt', () => named('webhook attempt') !== undefined, Boolean);
  const request = named('POST /v1/content/upload');
  assert.ok(request);
  assert.notEqual(request.traceId, strange, 'strangers choose no trace');
  assert.equal(text(request.attributes, 'http.response.status_code'), '201');
  assert.equal(text(request.attributes, 'reelfeed.request.id'), uploaded.body.meta.requestId);

  const trace = collector.spans.filter(({ traceId }) => traceId === request.traceId);
  const parentOf = (span: Span) => trace.find(({ spanId }) => spanId === span.parentSpanId);
  const attempt = trace.find(({ name }) => name === 'webhook attempt');
  assert.ok(attempt, trace.map(({ name }) => name).join(', '));
  const job = parentOf(attempt);
  assert.match(job?.name ?? '', /^job /);
  assert.equal(text(job?.attributes ?? [], 'reelfeed.job.outcome'), 'done');
  const steps = trace.filter((span) => span.parentSpanId === job?.spanId);
  assert.ok(
    steps.some(({ name }) => name.startsWith('media ')),
    'steps of the job',
  );
  let root: Span = attempt;
  for (let above = parentOf(root); above !== undefined; above = parentOf(root)) root = above;
  assert.equal(root.name, request.name);
  assert.equal(headers['traceparent'], `00-${attempt.traceId}-${attempt.spanId}-01`);

  assert.deepEqual(collector.requests[0], {
    path: '/v1/traces',
    authorization: 'Bearer hunter2',
    service: 'clips',
  });
  const line = logLines(running).find(
    ({ msg, route }) => msg === 'request' && route === '/v1/content/upload',
  );
  assert.deepEqual([line?.['trace_id'], line?.['span_id']], [request.traceId, request.spanId]);
  const attemptLine = logLines(running).find(({ msg }) => msg === 'job attempt');
  assert.match(String(attemptLine?.['trace_id']), /^[0-9a-f]{32}$/);
  const everything = JSON.stringify(collector.spans);
  for (const secret of ['hunter2', 'hunter3', secretKey]) {
    assert.ok(!everything.includes(secret), 'no secret is in a span');
  }
  // A JSON body is parsed outside the span, but its handler still has the span.
  const items = [{ title: 'From elsewhere', sourceUrl: `${receiver.url}/clip.mp4` }];
  const imported = await call('POST', '/v1/content/import', { body: { items } });
  assert.ok(imported.status < 300, imported.text);
  await until(
    'the job of the import',
    () => {
      const parent = named('POST /v1/content/import')?.spanId;
      return collector.spans.some(
        ({ name, parentSpanId }) => name.startsWith('job ') && parentSpanId === parent,
      );
    },
    Boolean,
  );
  await call('GET', '/v1/organization');
  await stop(running);
  assert.ok(named('GET /v1/organization'), 'what was queued is sent before the end');
});

test('an unavailable or hanging receiver slows nothing down, and is reported once', async () => {
  const port = await freePort();
  const { running, call } = await start({
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
  });
  const trouble = /^cannot export traces; dropping them$/;
  const told = () => logLines(running).filter(({ msg }) => trouble.test(String(msg))).length;
  const ask = async (times: number) => {
    const tookMs: number[] = [];
    for (let count = 0; count < times; count += 1) {
      const startedAt = performance.now();
      assert.equal((await call('GET', '/v1/organization')).status, 200);
      tookMs.push(performance.now() - startedAt);
    }
    return tookMs.toSorted((a, b) => a - b)[Math.floor(times / 2)] ?? 0;
  };
  await ask(20);
  await until('the log to tell', told, (count) => count === 1);
  const awayMs = await ask(200);
  // The receiver comes back, hangs, and finally responds.
  let isHanging = false;
  const collector = await startCollector((request, response, count) => {
    if (!isHanging) taken(request, response, count);
  }, port);
  await until(
    'the log to tell that it is back',
    async () => {
      await ask(1);
      return logLines(running).some(({ msg }) => msg === 'exporting traces again');
    },
    Boolean,
  );
  const answeringMs = await ask(200);
  isHanging = true;
  const before = collector.requests.length;
  await ask(1);
  await until('a batch that hangs', () => collector.requests.length > before, Boolean);
  const hangingMs = await ask(200);
  assert.ok(hangingMs < 5 * answeringMs + 20, `${hangingMs} ms against ${answeringMs} ms`);
  assert.ok(awayMs < 5 * answeringMs + 20, `${awayMs} ms against ${answeringMs} ms`);
  const stoppedAt = performance.now();
  await stop(running);
  assert.ok(performance.now() - stoppedAt < 30_000, 'the end does not wait for it for long');
  assert.ok(told() <= 2);
});

test('trusted callers continue their trace, and a sampler omits what it is told to', async () => {
  const collector = await startCollector();
  const { running, call } = await start({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_TRACES_SAMPLER: 'parentbased_always_off',
    REELFEED_TRACES_OF_CALLERS: 'on',
  });
  const traceId = '0af7651916cd43dd8448eb211c80319c';
  const ask = (traceparent: string) =>
    call('GET', '/v1/organization', { headers: { traceparent } });
  await call('GET', '/v1/organization');
  await ask('garbage');
  await ask(`00-${traceId}-b7ad6b7169203332-00`);
  await ask(`00-${traceId}-b7ad6b7169203331-01`);
  await stop(running);
  assert.deepEqual(
    collector.spans.map((span) => [span.name, span.traceId, span.parentSpanId]),
    [['GET /v1/organization', traceId, 'b7ad6b7169203331']],
  );
});
