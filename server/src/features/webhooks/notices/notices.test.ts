import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { SMTPServer } from 'smtp-server';
import { atEnd } from '../../../../test/database.ts';
import { receiverCertificate, startReceiver } from '../../../../test/receiver.ts';
import { eventually } from '../../../../test/service.ts';
import { startWebhookService } from '../../../../test/webhooks/webhooks.ts';
import { openMail } from './mail.ts';

type Received = { to: string[]; text: string };

async function startMailServer(options: ConstructorParameters<typeof SMTPServer>[0]) {
  const mails: Received[] = [];
  const server = new SMTPServer({
    ...options,
    onData(stream, { envelope }, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const to = envelope.rcptTo.map(({ address }) => address);
        mails.push({ to, text: Buffer.concat(chunks).toString('utf8') });
        done();
      });
    },
  });
  server.on('error', () => undefined);
  const listener = server.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  atEnd(() => new Promise<void>((resolve) => server.close(resolve)));
  return { mails, port: (listener.address() as AddressInfo).port };
}

const plain = await startMailServer({
  authOptional: true,
  disabledCommands: ['STARTTLS', 'AUTH'],
});
const receiver = await startReceiver(({ path }) => (path.includes('/well') ? 204 : 500));
const service = await startWebhookService({
  REELFEED_EGRESS_ALLOW: receiver.allow,
  REELFEED_WEBHOOK_RETRY_SCHEDULE: '0s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s',
  REELFEED_WEBHOOK_NOTICE_AFTER: '1s',
  REELFEED_WEBHOOK_DISABLE_AFTER: '8s',
  REELFEED_SMTP_URL: `smtp://127.0.0.1:${plain.port}`,
  REELFEED_MAIL_FROM: 'Reelfeed <hooks@example.com>',
});

test('a mail says once that a webhook is failing, and once that it was disabled', async () => {
  const create = (path: string, notify: string[]) => {
    const body = { url: `${receiver.url}/${path}?key=hidden`, events: ['content.ready'], notify };
    return service.call('POST', '/v1/webhooks', { body });
  };
  const failing = await create('broken', ['one@example.com', 'two@example.com']);
  assert.deepEqual(failing.body.data.notify, ['one@example.com', 'two@example.com']);
  await create('well', ['nobody@example.com']);
  await create('unattended', []);
  await service.cause('Refused');
  await eventually('both mails', async () => (plain.mails.length >= 2 ? true : null), 60_000);
  const { id } = failing.body.data;
  const shown = await service.call('GET', `/v1/webhooks/${id}`);
  assert.equal(shown.body.data.disabledReason, 'failing');
  const [first, second] = plain.mails;
  assert.match(first?.text ?? '', /Subject: Webhook to 127\.0\.0\.1:\d+ is failing/);
  assert.match(second?.text ?? '', /Subject: Webhook to 127\.0\.0\.1:\d+ was disabled/);
  for (const { to, text } of plain.mails) {
    assert.deepEqual(to, ['one@example.com', 'two@example.com']);
    assert.match(text, /From: Reelfeed <hooks@example\.com>/);
    assert.ok(text.includes(id) && !text.includes('hidden'));
  }
  assert.equal(plain.mails.length, 2);
});

test('a mail server with TLS and a password, and one that is refused', async () => {
  const secure = await startMailServer({
    secure: true,
    ...receiverCertificate,
    onAuth({ username, password }, _session, done) {
      if (username === 'user@example.com' && password === 'hush:/') done(null, { user: '1' });
      else done(new Error('wrong'));
    },
  });
  const mail = { to: ['a@example.com'], subject: 'Über', text: 'Text', id: 'one' };
  const open = (credentials: string) =>
    openMail({
      smtpUrl: `smtps://${credentials}@127.0.0.1:${secure.port}`,
      mailFrom: 'hooks@example.com',
    });
  await open('user%40example.com:hush%3A%2F')?.(mail);
  assert.match(secure.mails[0]?.text ?? '', /Message-ID: <one@reelfeed>/);
  await assert.rejects(async () => open('user%40example.com:guess')?.(mail), /Invalid login/);
});

test('nobody can be notified without a mail server', async () => {
  const without = await startWebhookService({ REELFEED_EGRESS_ALLOW: receiver.allow });
  const body = { url: receiver.url, events: ['*'], notify: ['a@example.com'] };
  const answer = await without.call('POST', '/v1/webhooks', { body });
  assert.equal(answer.body.error.details[0].path, 'notify');
});
