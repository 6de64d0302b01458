/**
 * Tests what unauthenticated visitors can observe: limits across processes, identical responses,
 * links by mail, codes.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { SMTPServer } from 'smtp-server';
import { atEnd } from '../../../test/database.ts';
import { eventually, startService } from '../../../test/service.ts';
import { atDoor, cookieOf, createPerson, password, personBy } from '../../../test/people/people.ts';
import { codeAt, stepAt } from './totp.ts';

/** A real mail server on loopback. */
const mails: { to: string[]; text: string }[] = [];
const server = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS', 'AUTH'],
  onData(stream, { envelope }, done) {
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('end', () => {
      // Quoted-printable folds long lines with a trailing `=`.
      const text = Buffer.concat(chunks).toString('utf8').replaceAll('=\r\n', '');
      mails.push({ to: envelope.rcptTo.map(({ address }) => address), text });
      done();
    });
  },
});
server.on('error', () => undefined);
const listener = server.listen(0, '127.0.0.1');
await once(listener, 'listening');
atEnd(() => new Promise<void>((resolve) => server.close(resolve)));

const { port } = listener.address() as AddressInfo;
const env = { REELFEED_SMTP_URL: `smtp://127.0.0.1:${port}` };
const service = await startService(env);
const second = await startService(env, { beside: service });

const mailTo = (address: string) =>
  eventually(`a mail to ${address}`, async () => {
    const mail = mails.find(({ to }) => to.includes(address));
    return mail ?? null;
  });

test('an account has ten attempts, however many processes take them', async () => {
  const person = await createPerson(service, 'viewer');
  const attempts = await Promise.all(
    Array.from({ length: 14 }, (_, index) =>
      atDoor(index % 2 === 0 ? service : second, 'sign-in', {
        email: person.email,
        password: 'wrong',
      }),
    ),
  );
  const codes = attempts.map(({ body }) => body.error.code);
  assert.equal(codes.filter((code) => code === 'SIGN_IN_FAILED').length, 10);
  const limited = attempts.filter(({ status }) => status === 429);
  assert.equal(limited.length, 4);
  assert.ok(Number(limited[0]?.headers.get('retry-after')) > 800);
  // The right password is rejected as well, but an existing session continues.
  const right = await atDoor(service, 'sign-in', { email: person.email, password });
  assert.equal(right.status, 429);
  assert.equal((await person.call('GET', '/v1/content')).status, 200);
});

test('an address has its limit, whatever accounts it tries', async () => {
  const limited = await startService({ ...env, REELFEED_SIGN_IN_LIMIT: '3' }, { beside: service });
  const answers = [];
  for (let index = 0; index < 5; index += 1) {
    const email = `nobody-${index}@example.com`;
    answers.push((await atDoor(limited, 'sign-in', { email, password: 'wrong' })).status);
  }
  // Earlier requests came from the same address.
  assert.equal(answers.includes(401), false);
  assert.deepEqual([...new Set(answers)], [429]);
});

test('the answers do not say whether there is an account', async () => {
  const person = await createPerson(service, 'viewer');
  const ask = async (path: string, email: string, body: object = {}) => {
    const answer = await atDoor(service, path, { email, ...body });
    return { status: answer.status, error: answer.body.error, data: answer.body.data };
  };
  const known = await ask('sign-in', person.email, { password: 'wrong' });
  const unknown = await ask('sign-in', 'stranger@example.com', { password: 'wrong' });
  assert.deepEqual(known, unknown);
  const asked = await ask('reset-request', 'stranger@example.com');
  assert.equal(asked.status, 202);
  assert.deepEqual(asked, await ask('reset-request', person.email));
});

test('an invitation and a new password come by mail, and end what was before', async () => {
  const { body } = await service.call('POST', '/v1/people/invitations', {
    body: { email: 'mailed@example.com', role: 'editor' },
  });
  const invitation = await mailTo('mailed@example.com');
  const token = String(body.data.url).split('/').at(-1) ?? '';
  // Either process may send the mail, using its own address.
  assert.ok(invitation.text.includes(`/invitation/${token}`), invitation.text);
  const accepted = await atDoor(service, 'accept', { token, name: 'By mail', password });
  const person = personBy(service, 'mailed@example.com', cookieOf(accepted));
  mails.length = 0;
  await atDoor(service, 'reset-request', { email: person.email });
  const mail = await mailTo(person.email);
  const link = /new-password\/([\w-]{43})/.exec(mail.text)?.[1];
  const changed = 'completely other words here';
  const reset = () => atDoor(service, 'reset', { token: link, password: changed });
  assert.equal((await reset()).status, 200);
  assert.equal((await reset()).body.error.code, 'LINK_OVER');
  assert.equal((await person.call('GET', '/v1/content')).status, 401);
  const before = await atDoor(service, 'sign-in', { email: person.email, password });
  assert.equal(before.status, 401);
  const after = await atDoor(service, 'sign-in', { email: person.email, password: changed });
  assert.equal(after.status, 200);
});

/** Decodes the secret as an authenticator app does. */
function fromBase32(text: string): Buffer {
  const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
  const bits = [...text]
    .map((digit) => digits.indexOf(digit).toString(2).padStart(5, '0'))
    .join('');
  const bytes = bits.match(/.{8}/g) ?? [];
  return Buffer.from(bytes.map((byte) => Number.parseInt(byte, 2)));
}

test('with a second factor, each code and each recovery code signs in once', async () => {
  const person = await createPerson(service, 'viewer');
  const wrong = await person.call('POST', '/console/account/totp', { body: { password: 'wrong' } });
  assert.equal(wrong.status, 400);
  const begun = await person.call('POST', '/console/account/totp', { body: { password } });
  const secret = fromBase32(begun.body.data.secret);
  const start = stepAt(Date.now());
  const confirmed = await person.call('POST', '/console/account/totp/confirm', {
    body: { code: codeAt(secret, start) },
  });
  const { recoveryCodes } = confirmed.body.data;
  assert.equal(recoveryCodes.length, 10);
  const signIn = async (code?: string) => {
    const body = { email: person.email, password, ...(code !== undefined && { code }) };
    const answer = await atDoor(service, 'sign-in', body);
    return answer.status === 200 ? 'in' : answer.body.error.code;
  };
  assert.equal(await signIn(), 'SECOND_FACTOR_REQUIRED');
  assert.equal(await signIn(codeAt(secret, start)), 'SECOND_FACTOR_FAILED', 'it confirmed already');
  const next = codeAt(secret, start + 1);
  // Two browsers submit the same code concurrently.
  const both = await Promise.all([signIn(next), signIn(next)]);
  assert.deepEqual(both.toSorted(), ['SECOND_FACTOR_FAILED', 'in']);
  assert.equal(await signIn(recoveryCodes[0].toUpperCase()), 'in');
  assert.equal(await signIn(recoveryCodes[0]), 'SECOND_FACTOR_FAILED');
  const password401 = await atDoor(service, 'sign-in', {
    email: person.email,
    password: 'wrong',
    code: recoveryCodes[1],
  });
  assert.equal(password401.body.error.code, 'SIGN_IN_FAILED');
});
