/**
 * Proves that `webhooks listen` loses no events, even if forwarding is slow or the service is down.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { connect, createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net';
import { test } from 'node:test';
import { atEnd } from '../../test/database.ts';
import { runCommand, startCommand, type RunningProcess } from '../../test/processes.ts';
import { eventually } from '../../test/service.ts';
import { pause } from '../../test/waiting.ts';
import { startWebhookService } from '../../test/webhooks/webhooks.ts';

const service = await startWebhookService();
const env = { REELFEED_PUBLIC_URL: service.url, REELFEED_SECRET_KEY: service.secretKey };

/** The output of the process with `--json`, after the line with the secret. */
function printed({ output }: RunningProcess): Record<string, unknown>[] {
  const lines = output.stdout.split('\n').slice(0, -1);
  return lines.slice(1).map((line) => JSON.parse(line) as Record<string, unknown>);
}

async function startListening(options: string[], own: Record<string, string> = {}) {
  const args = ['webhooks', 'listen', '--json', ...options];
  const listening = startCommand(args, { env: { ...env, ...own } });
  await eventually('it listens', async () =>
    listening.output.stdout.includes('\n') ? true : null,
  );
  return listening;
}

async function stop({ child, ended }: RunningProcess): Promise<void> {
  child.kill('SIGINT');
  assert.equal((await ended).code, 0);
}

test('events that happen during a forward that takes longer than it looks back all arrive', async () => {
  const titles: string[] = [];
  let first: ServerResponse | null = null;
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString('utf8')));
    request.on('end', () => {
      titles.push((JSON.parse(body) as { data: { title: string } }).data.title);
      if (first === null) first = response;
      else response.writeHead(202).end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(async () => void server.close());
  const forward = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  const listening = await startListening(['--forward', forward]);
  await service.cause('one');
  await eventually('the first forward', async () => (titles.length === 1 ? true : null));
  for (const title of ['two', 'three', 'four', 'five']) await service.cause(title);
  await pause(12_000, 'the forward takes longer than the command looks back');
  (first as ServerResponse | null)?.writeHead(202).end();
  await eventually('the others', async () => (titles.length === 5 ? true : null));
  assert.deepEqual(titles, ['one', 'two', 'three', 'four', 'five']);
  await eventually('the lines', async () => (printed(listening).length === 5 ? true : null));
  assert.ok(printed(listening).every(({ forwarded }) => forwarded === '202'));
  await stop(listening);
});

test('the service may restart: it says so once, and what happened meanwhile follows', async () => {
  const { port: servicePort } = new URL(service.url);
  const sockets = new Set<Socket>();
  const listen = async (port: number) => {
    const server = createTcpServer((socket) => {
      const onward = connect(Number(servicePort), '127.0.0.1');
      for (const one of [socket, onward]) {
        sockets.add(one);
        one.on('error', () => undefined);
      }
      socket.pipe(onward).pipe(socket);
    }).listen(port, '127.0.0.1');
    await once(server, 'listening');
    return server;
  };
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  const before = await listen(0);
  const { port } = before.address() as AddressInfo;
  const listening = await startListening([], { REELFEED_PUBLIC_URL: `http://127.0.0.1:${port}` });
  await service.cause('before');
  await eventually('the first', async () => (printed(listening).length === 1 ? true : null));
  before.close();
  cut();
  await eventually('it waits', async () =>
    listening.output.stderr.includes('waiting for it') ? true : null,
  );
  await service.cause('meanwhile');
  const after = await listen(port);
  await eventually('the second', async () => (printed(listening).length === 2 ? true : null));
  assert.equal(
    listening.output.stderr,
    'The service is not responding; waiting for it.\nThe service is available again.\n',
  );
  await stop(listening);
  after.close();
  cut();
});

test('the audit log is shown where --events names it', async () => {
  const usual = await startListening([]);
  const asked = await startListening(['--events', 'audit.*']);
  const body = { name: 'Renamed' };
  assert.equal((await service.call('PATCH', '/v1/organization', { body })).status, 200);
  await service.cause('after the change');
  await eventually('both', async () =>
    printed(usual).length > 0 && printed(asked).length > 0 ? true : null,
  );
  assert.deepEqual(
    [usual, asked].map((one) => printed(one).map(({ event }) => event)),
    [['content.ready'], ['audit.recorded']],
  );
  await stop(usual);
  await stop(asked);
});

test('--events filters, and lists the known kinds', async () => {
  const listening = await startListening(['--events', 'live_stream.*,export.ready']);
  for (const event of ['content.ready', 'live_stream.active', 'export.ready']) {
    const { code, stderr } = await runCommand(['webhooks', 'trigger', event], { env });
    assert.equal(code, 0, stderr);
  }
  await eventually('both', async () => (printed(listening).length === 2 ? true : null));
  const kinds = printed(listening).map(({ event }) => event);
  assert.deepEqual(kinds, ['live_stream.active', 'export.ready']);
  await stop(listening);
  const args = ['webhooks', 'listen', '--events', 'content.gone'];
  const unknown = await runCommand(args, { env });
  assert.equal(unknown.code, 2);
  assert.match(
    unknown.stderr,
    /unknown event "content\.gone"\. The known events are .*\bcontent\.ready\b/,
  );
  const away = await runCommand(['webhooks', 'listen'], {
    env: { ...env, REELFEED_PUBLIC_URL: 'http://127.0.0.1:9' },
  });
  assert.deepEqual([away.code, away.stderr.split('\n').length], [2, 2], away.stderr);
});
