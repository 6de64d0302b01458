/** Runs the examples from docs/webhooks.md unmodified. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { connect } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { atEnd, cloneDatabase } from '../../../test/database.ts';
import { receiverCertificate, startReceiver } from '../../../test/receiver.ts';
import {
  eventually,
  fastDatabase,
  freePort,
  send,
  temporaryFolder,
  toUrl,
} from '../../../test/service.ts';
import { example, guide } from './guide.fixture.ts';
import { unansweredErrors } from './sending/schedule.ts';
import { extensionsOf } from '../../app/composition.ts';
import { features } from '../../app/features.ts';
import { createCatalogue } from './outbox/event-kinds.ts';
import { startWebhookService } from '../../../test/webhooks/webhooks.ts';
import { pause } from '../../../test/waiting.ts';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
/** Runs a program that can import this repository's packages. */
function run(program: string, env: Record<string, string>) {
  const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', program];
  const child = spawn(process.execPath, args, {
    cwd: path.join(root, 'server'),
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  atEnd(async () => child.kill('SIGKILL'));
  const output = { text: '' };
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (output.text += chunk));
  return { child, output };
}

const port = await freePort();
const recorder = await startReceiver();
const service = await startWebhookService({
  REELFEED_EGRESS_ALLOW: `127.0.0.1:${port},${recorder.allow}`,
  REELFEED_WEBHOOK_RETRY_SCHEDULE: '0s,500ms,500ms,500ms',
});

test('the receiver takes real deliveries once, and refuses forged ones', async () => {
  const folder = await temporaryFolder();
  const [keyFile, certFile] = [path.join(folder, 'key.pem'), path.join(folder, 'cert.pem')];
  await writeFile(keyFile, receiverCertificate.key);
  await writeFile(certFile, receiverCertificate.cert);
  const url = `https://127.0.0.1:${port}/hooks`;
  const webhook = await service.register(url);
  const { child, output } = run(example('receiver'), {
    WEBHOOK_SECRET: webhook.secret,
    TLS_KEY: keyFile,
    TLS_CERT: certFile,
    PORT: String(port),
  });
  await eventually('the receiver', async () => (output.text.includes('listening') ? true : null));
  await service.cause('From the guide');
  await eventually('the delivery', async () =>
    output.text.includes('content.ready: From the guide (') ? true : null,
  );
  const [delivery] = await eventually('the success', async () => {
    const found = await service.deliveries(webhook.id);
    return found[0]?.status === 'success' ? found : null;
  });
  assert.equal(delivery?.statusCode, 204);
  await service.call('POST', `/v1/webhooks/${webhook.id}/deliveries/${delivery.id}/retry`);
  await eventually('the repeat', async () => {
    const [found] = await service.deliveries(webhook.id);
    return found?.status === 'success' && found.attempts === 2 ? true : null;
  });
  assert.equal(output.text.split('From the guide').length - 1, 1, 'a repeat is not handled again');
  const forged = await fetch(url, { method: 'POST', body: JSON.stringify(delivery.payload) });
  assert.equal(forged.status, 400);
  const oversized = await fetch(url, { method: 'POST', body: Buffer.alloc(2 * 1024 * 1024) });
  assert.equal(oversized.status, 413);
  await abortRequest(port);
  assert.equal(child.exitCode, null, 'a request that breaks off does not end it');

  const rotated = await service.call('POST', `/v1/webhooks/${webhook.id}/rotate-secret`);
  assert.equal(rotated.status, 200);
  await service.cause('After the rotation');
  await eventually('the delivery, by the old secret', async () =>
    output.text.includes('After the rotation') ? true : null,
  );
  const patch = { events: ['*'] };
  assert.equal(
    (await service.call('PATCH', `/v1/webhooks/${webhook.id}`, { body: patch })).status,
    200,
  );
  const { kinds } = createCatalogue(extensionsOf(features.list));
  const before = output.text.length;
  for (const event of kinds) {
    const sent = await service.call('POST', `/v1/webhooks/${webhook.id}/test`, { body: { event } });
    assert.equal(sent.body.data.status, 'success', event);
  }
  const lines = output.text.slice(before);
  for (const event of kinds) assert.ok(lines.includes(`made up:\n${event}: `), event);
  assert.ok(!lines.includes('undefined'));
  await service.call('DELETE', `/v1/webhooks/${webhook.id}`);
});

/** Sends half of a body, then closes the connection. */
async function abortRequest(toPort: number): Promise<void> {
  const socket = connect({ port: toPort, host: '127.0.0.1', rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  socket.write('POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\nhalf');
  await pause(100, 'half of the request arrives');
  socket.destroy();
  await pause(300, 'the receiver handles the end');
}

test('the other two ways of verifying accept a real delivery and refuse a changed one', async () => {
  const { secret } = await service.register(recorder.url);
  await service.cause('Verified');
  const { body, headers } = await eventually(
    'the delivery',
    async () => recorder.requests[0] ?? null,
  );
  for (const name of ['standard', 'plain']) {
    const call = (text: string) =>
      `verify(${JSON.stringify(text)}, ${JSON.stringify(headers)}, ${JSON.stringify(secret)})`;
    const { child, output } = run(
      `${example(name)}
      console.log(${call(body)}.data.title);
      try { ${call(body.replace('Verified', 'Forged'))}; console.log('accepted'); }
      catch { console.log('refused'); }`,
      {},
    );
    await once(child, 'close');
    assert.equal(output.text, 'Verified\nrefused\n', name);
  }
});

test('through a rotation, both ways verify with the old and with the new secret', async () => {
  const webhook = await service.register(`${recorder.url}/rotation`, ['content.errored']);
  const path = `/v1/webhooks/${webhook.id}`;
  const rotated = await service.call('POST', `${path}/rotate-secret`);
  await service.call('POST', `${path}/test`, { body: { event: 'content.errored' } });
  const sent = recorder.requests.find((request) => request.path.endsWith('/rotation'));
  assert.ok(sent !== undefined);
  const { body, headers } = sent;
  for (const name of ['plain', 'standard']) {
    const verified = [webhook.secret, rotated.body.data.secret].map((secret) => {
      const args = [body, headers, secret].map((value) => JSON.stringify(value)).join();
      return `console.log(verify(${args}).event);`;
    });
    const { child, output } = run(`${example(name)}\n${verified.join('\n')}`, {});
    await once(child, 'close');
    assert.equal(output.text, 'content.errored\ncontent.errored\n', name);
  }
});

test('the example verifies with the public key alone, and rejects changed and old messages', async () => {
  const { body: made } = await service.call('POST', '/v1/webhooks', {
    body: { url: `${recorder.url}/ed25519`, events: ['content.errored'], signature: 'ed25519' },
  });
  const { id, publicKey } = made.data;
  await service.call('POST', `/v1/webhooks/${id}/test`, { body: { event: 'content.errored' } });
  const sent = recorder.requests.find((request) => request.path.endsWith('/ed25519'));
  assert.ok(sent !== undefined);
  const { body, headers } = sent;
  const old = { ...headers, 'webhook-timestamp': '1700000000' };
  const renamed = { ...headers, 'webhook-id': 'dlv_other' };
  const calls = [
    [body, headers],
    [body.replace('content.errored', 'content.ready'), headers],
    [body, old],
    [body, renamed],
  ].map((given) => {
    const args = [...given, publicKey].map((value) => JSON.stringify(value)).join();
    return `try { console.log(verify(${args}).test); } catch (error) { console.log(error.message); }`;
  });
  const { child, output } = run(`${example('ed25519')}\n${calls.join('\n')}`, {});
  await once(child, 'close');
  const refusal = 'not from the service';
  assert.equal(output.text, `true\n${refusal}\ntoo old\n${refusal}\n`);
  await service.call('DELETE', `/v1/webhooks/${id}`);
});

test('the filter and the link command in the guide are accepted', async () => {
  const [, filter = ''] = /```json\n(\{ "title".*)\n```/.exec(guide) ?? [];
  const { status, text, body } = await service.call('POST', '/v1/webhooks', {
    body: { url: recorder.url, events: ['*'], filter: JSON.parse(filter) },
  });
  assert.equal(status, 201, text);
  await service.call('DELETE', `/v1/webhooks/${body.data.id}`);
  const link = commands({}).find((block) => block.includes('portal-links')) ?? '';
  const env = { REELFEED: service.url, KEY: service.secretKey };
  const answer = JSON.parse(await shell(link, await temporaryFolder(), env).ended);
  assert.match(answer.data.url, /\/portal\/webhooks#whp_/);
});

/** The shell blocks of the guide, with placeholders filled in. */
function commands(values: Readonly<Record<string, string>>): string[] {
  return [...guide.matchAll(/```sh\n([^]*?)```/g)].map(([, block = '']) =>
    Object.entries(values).reduce((text, [from, to]) => text.replaceAll(from, to), block),
  );
}

const launcher = path.join(root, 'server/bin/reelfeed.js');

/**
 * Runs shell commands; the shell is replaced by the last one, so that killing it ends that command.
 */
function shell(text: string, cwd: string, env: Record<string, string> = {}) {
  const child = spawn('sh', ['-euc', text], {
    cwd,
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  atEnd(async () => child.kill('SIGKILL'));
  const output = { text: '' };
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (output.text += chunk));
  return { child, output, ended: once(child, 'close').then(() => output.text) };
}

test('the commands for trying it out show, forward and register', async () => {
  const forwarded = await startReceiver();
  const cwd = await temporaryFolder();
  const [tryIt = '', register = ''] = commands({
    'http://localhost:4000': service.url,
    'rf_sk_…': service.secretKey,
    'http://localhost:3000/hook': forwarded.url,
    'npx reelfeed': `exec node ${launcher}`,
  });
  const [settings = '', listen = '', trigger = ''] = tryIt.split('\n');
  // The certificate is a test certificate.
  const env = { NODE_TLS_REJECT_UNAUTHORIZED: '0' };
  const listening = shell(`${settings}\n${listen}`, cwd, env);
  await eventually('it listens', async () =>
    listening.output.text.includes('whsec_') ? true : null,
  );
  await shell(`${settings}\n${trigger}`, cwd).ended;
  await eventually('what it forwards', async () => forwarded.requests[0] ?? null);
  listening.child.kill('SIGINT');
  assert.match(await listening.ended, /content\.ready/);
  const made = JSON.parse(await shell(register, cwd).ended);
  assert.deepEqual(made.data.events, ['content.*']);
  await service.call('DELETE', `/v1/webhooks/${made.data.id}`);
});

test('the first try at home works: certificate, service, receiver and test send', async (t) => {
  if (spawnSync('openssl', ['version']).status !== 0) return t.skip('there is no openssl');
  const cwd = await temporaryFolder();
  await symlink(path.join(root, 'node_modules'), path.join(cwd, 'node_modules'));
  await writeFile(path.join(cwd, 'receiver.mjs'), example('receiver'));
  const homePort = String(await freePort());
  const [, , prepare = ''] = commands({
    '8443': homePort,
    'npm start': `exec node ${launcher} start`,
  });
  const keys = { REELFEED_SECRET_KEY: service.secretKey };
  const home = shell(prepare, cwd, {
    ...keys,
    ...fastDatabase,
    PORT: '0',
    DATABASE_URL: toUrl(await cloneDatabase()),
    REELFEED_DATA_DIR: path.join(cwd, 'data'),
    REELFEED_LOG_LEVEL: 'error',
    REELFEED_MIN_FREE_BYTES: '0',
    REELFEED_ROLES: 'api,worker',
  });
  const url = await eventually(
    'the service',
    async () => /Reelfeed is ready: (\S+)/.exec(home.output.text)?.[1] ?? null,
    60_000,
  );
  const { body } = await send(`${url}/v1/webhooks`, 'POST', {
    key: service.secretKey,
    body: { url: `https://127.0.0.1:${homePort}/`, events: ['content.ready'] },
  });
  const [, , , take = ''] = commands({ 'whsec_…': body.data.secret, 'whk_…': body.data.id });
  const [receive = '', ...sendTest] = take.split('\n');
  const receiver = shell(receive.replace(' node ', ' exec node '), cwd, { PORT: homePort });
  await eventually('the receiver', async () =>
    receiver.output.text.includes('listening') ? true : null,
  );
  const sent = shell(sendTest.join('\n'), cwd, { REELFEED: url, KEY: service.secretKey });
  assert.equal(JSON.parse(await sent.ended).data.statusCode, 204);
  assert.match(receiver.output.text, /content\.ready: /);
  home.child.kill('SIGTERM');
  await home.ended;
});

test('it names every kind of event and every class of failure, and no others', () => {
  const firstCells = (heading: string) => {
    const [, table = ''] = new RegExp(`${heading}[^|]*\n((?:\\|.*\n)+)`).exec(guide) ?? [];
    return [...table.matchAll(/^\| (`.*?) \|/gm)].flatMap(([, cell = '']) =>
      [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name),
    );
  };
  assert.deepEqual(
    firstCells('may arrive more than once\\.').toSorted(),
    createCatalogue(extensionsOf(features.list)).kinds.toSorted(),
  );
  assert.deepEqual(
    firstCells('`lastError` is one of:').toSorted(),
    ['http_<status>', ...unansweredErrors].toSorted(),
  );
});
