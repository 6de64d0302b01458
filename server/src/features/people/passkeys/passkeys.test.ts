/**
 * Proves that a passkey signs in only its owner: once per challenge, on this site, and with an
 * increased counter.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runCommand } from '../../../../test/processes.ts';
import { freePort, send, startService, toUrl, type Reply } from '../../../../test/service.ts';
import {
  atDoor,
  cookieOf,
  createPerson,
  password,
  personBy,
  type TestPerson,
} from '../../../../test/people/people.ts';
import { Authenticator, type Asked } from '../../../../test/people/authenticator.ts';
import { relyingPartyOf } from './ceremony.ts';

const port = await freePort();
const origin = `http://localhost:${port}`;
const env = { REELFEED_PUBLIC_URL: origin, REELFEED_SIGN_IN_LIMIT: '1000' };
const service = await startService({ ...env, PORT: String(port) });
const second = await startService(env, { beside: service });
const rpId = 'localhost';

const console1 = { 'x-reelfeed-console': '1' };
const ceremonyOf = ({ headers }: Reply): string =>
  headers
    .getSetCookie()
    .find((cookie) => cookie.startsWith('reelfeed_passkey='))
    ?.split(';')[0] ?? '';

/** Also sends the ceremony's cookie, like the person's browser. */
const withCeremony = (person: TestPerson, ceremony: string) => ({
  headers: { cookie: `${person.cookie}; ${ceremony}` },
});

async function begin(person: TestPerson) {
  const begun = await person.call('POST', '/console/account/passkeys/start', {
    body: { password },
  });
  assert.equal(begun.status, 200, begun.text);
  const { challenge, user } = begun.body.data;
  const asked: Asked = { challenge, rpId, origin };
  return { asked, userHandle: String(user.id), ceremony: ceremonyOf(begun), begun };
}

async function register(
  person: TestPerson,
  authenticator = new Authenticator(),
): Promise<{ authenticator: Authenticator; id: string }> {
  const { asked, userHandle, ceremony } = await begin(person);
  const made = await person.call('POST', '/console/account/passkeys', {
    ...withCeremony(person, ceremony),
    body: { name: 'Laptop', credential: authenticator.make(asked, userHandle) },
  });
  assert.equal(made.status, 201, made.text);
  return { authenticator, id: made.body.data.id };
}

async function start(): Promise<{ asked: Asked; ceremony: string }> {
  const begun = await send(`${service.url}/console/account/passkey/start`, 'POST', {
    headers: console1,
  });
  assert.equal(begun.status, 200, begun.text);
  return {
    asked: { challenge: begun.body.data.challenge, rpId, origin },
    ceremony: ceremonyOf(begun),
  };
}

const finish = (ceremony: string, credential: object, at = service): Promise<Reply> =>
  send(`${at.url}/console/account/passkey`, 'POST', {
    headers: { ...console1, cookie: ceremony },
    body: { credential },
  });

const outcome = ({ status, body }: Reply): string => (status === 200 ? 'in' : body.error.code);

async function signIn(authenticator: Authenticator, changed: Partial<Asked> = {}): Promise<string> {
  const { asked, ceremony } = await start();
  return outcome(await finish(ceremony, authenticator.sign({ ...asked, ...changed })));
}

test('a passkey signs in without a password, on any process', async () => {
  const person = await createPerson(service, 'editor');
  const { authenticator, id } = await register(person);
  const { asked, ceremony } = await start();
  const answer = await finish(ceremony, authenticator.sign(asked), second);
  assert.equal(answer.status, 200, answer.text);
  const signedIn = personBy(service, person.email, cookieOf(answer));
  const account = await signedIn.call('GET', '/console/account');
  assert.equal(account.body.data.email, person.email);
  const listed = await signedIn.call('GET', '/console/account/passkeys');
  assert.deepEqual(
    listed.body.data.map((one: { id: string; name: string }) => [one.id, one.name]),
    [[id, 'Laptop']],
  );
  assert.ok(listed.body.data[0].lastUsedAt !== null);
  const audit = await service.call('GET', '/v1/audit?action=addPasskey');
  assert.equal(audit.body.data[0].actor.type, 'person');
});

test('an account has several passkeys, and a removed one signs in no more', async () => {
  const person = await createPerson(service, 'viewer');
  const [one, other] = [await register(person), await register(person)];
  const remove = (body: object) =>
    person.call('DELETE', `/console/account/passkeys/${one.id}`, { body });
  assert.equal((await remove({ password: 'wrong' })).body.error.code, 'VALIDATION_ERROR');
  assert.equal((await remove({ password })).status, 200);
  assert.equal((await remove({ password })).status, 404);
  assert.equal(await signIn(one.authenticator), 'PASSKEY_FAILED');
  assert.equal(await signIn(other.authenticator), 'in');
  const audit = await service.call('GET', '/v1/audit?action=removePasskey');
  assert.equal(audit.body.data.length, 1);
});

test('a challenge counts once, in the browser that has asked for it', async () => {
  const { authenticator } = await register(await createPerson(service, 'viewer'));
  const { asked, ceremony } = await start();
  const signed = authenticator.sign(asked);
  const stolen = await start();
  assert.equal(outcome(await finish('', signed)), 'PASSKEY_FAILED', 'without the cookie');
  assert.equal(outcome(await finish(stolen.ceremony, signed)), 'PASSKEY_FAILED', 'another browser');
  // Two processes receive the same response concurrently.
  const both = await Promise.all([finish(ceremony, signed), finish(ceremony, signed, second)]);
  assert.deepEqual(both.map(outcome).toSorted(), ['PASSKEY_FAILED', 'in']);
  assert.equal(outcome(await finish(ceremony, authenticator.sign(asked))), 'PASSKEY_FAILED');
});

test('another origin, relying party or challenge is refused, and a user who is not verified', async () => {
  const { authenticator } = await register(await createPerson(service, 'viewer'));
  assert.equal(await signIn(authenticator, { origin: 'https://evil.example' }), 'PASSKEY_FAILED');
  assert.equal(await signIn(authenticator, { rpId: 'evil.example' }), 'PASSKEY_FAILED');
  const challenge = Buffer.alloc(32).toString('base64url');
  assert.equal(await signIn(authenticator, { challenge }), 'PASSKEY_FAILED');
  authenticator.isVerified = false;
  assert.equal(await signIn(authenticator), 'PASSKEY_FAILED');
  authenticator.isVerified = true;
  assert.equal(await signIn(authenticator), 'in');
});

test('a counter that goes back or stays is refused', async () => {
  const { authenticator } = await register(await createPerson(service, 'viewer'));
  assert.equal(await signIn(authenticator), 'in');
  const reached = authenticator.counter;
  authenticator.counter = reached - 1;
  assert.equal(await signIn(authenticator), 'PASSKEY_FAILED', 'the same number again');
  authenticator.counter = 0;
  assert.equal(await signIn(authenticator), 'PASSKEY_FAILED', 'a copy of an earlier state');
  authenticator.counter = reached;
  assert.equal(await signIn(authenticator), 'in');
});

test('a credential of another account gives no access, and cannot be taken over', async () => {
  const [owner, thief] = [
    await createPerson(service, 'owner'),
    await createPerson(service, 'viewer'),
  ];
  const { authenticator, id } = await register(owner);
  const own = await register(thief);
  const { asked, userHandle, ceremony } = await begin(thief);
  const copied = authenticator.make(asked, userHandle);
  const taken = await thief.call('POST', '/console/account/passkeys', {
    ...withCeremony(thief, ceremony),
    body: { name: 'Mine', credential: copied },
  });
  assert.equal(taken.body.error.code, 'CONFLICT');
  // The handle that `make` stored is the attacker's.
  assert.equal(await signIn(authenticator), 'PASSKEY_FAILED');
  own.authenticator.userHandle = Buffer.from('per_of_somebody_else').toString('base64url');
  assert.equal(await signIn(own.authenticator), 'PASSKEY_FAILED');
  const removed = await thief.call('DELETE', `/console/account/passkeys/${id}`, {
    body: { password },
  });
  assert.equal(removed.status, 404);
});

test('a passkey is created in the session that started it, once, after the password', async () => {
  const [person, other] = [
    await createPerson(service, 'viewer'),
    await createPerson(service, 'viewer'),
  ];
  const wrong = await person.call('POST', '/console/account/passkeys/start', {
    body: { password: 'wrong' },
  });
  assert.equal(wrong.status, 400);
  const { asked, userHandle, ceremony } = await begin(person);
  const credential = new Authenticator().make(asked, userHandle);
  const make = (by: TestPerson, made: object) =>
    by.call('POST', '/console/account/passkeys', {
      ...withCeremony(by, ceremony),
      body: { name: 'Phone', credential: made },
    });
  assert.equal((await make(other, credential)).body.error.code, 'PASSKEY_REFUSED');
  assert.equal((await make(person, credential)).status, 201);
  assert.equal((await make(person, credential)).body.error.code, 'PASSKEY_REFUSED');
  const { asked: next, ceremony: opened } = await begin(person);
  const elsewhere = new Authenticator().make(
    { ...next, origin: 'https://evil.example' },
    userHandle,
  );
  const refused = await person.call('POST', '/console/account/passkeys', {
    ...withCeremony(person, opened),
    body: { name: 'Phone', credential: elsewhere },
  });
  assert.equal(refused.body.error.code, 'PASSKEY_REFUSED');
  // A sign-in ceremony can't register a passkey.
  const door = await start();
  const crossed = await person.call('POST', '/console/account/passkeys', {
    ...withCeremony(person, door.ceremony),
    body: { name: 'Phone', credential: new Authenticator().make(door.asked, userHandle) },
  });
  assert.equal(crossed.body.error.code, 'PASSKEY_REFUSED');
});

test('sign-ins by passkey have the limit of the address, and garbage is refused', async () => {
  const limited = await startService({ REELFEED_SIGN_IN_LIMIT: '4' });
  const ask = () =>
    send(`${limited.url}/console/account/passkey/start`, 'POST', { headers: console1 });
  const answers = await Promise.all(Array.from({ length: 6 }, ask));
  assert.equal(answers.filter(({ status }) => status === 429).length, 2);
  const { ceremony } = await start();
  const garbage = 'AAAA';
  const credential = {
    id: garbage,
    clientDataJSON: garbage,
    authenticatorData: garbage,
    signature: garbage,
    userHandle: garbage,
  };
  assert.equal(outcome(await finish(ceremony, credential)), 'PASSKEY_FAILED');
  const missing = await finish(ceremony, { id: garbage });
  assert.equal(missing.status, 400);
  const foreignPage = await send(`${service.url}/console/account/passkey/start`, 'POST', {});
  assert.equal(foreignPage.status, 403);
});

test('where single sign-on is the only way, passkeys are closed; without HTTPS there are none', async () => {
  const closed = await startService({
    REELFEED_OIDC_ISSUER: 'https://login.example.com',
    REELFEED_OIDC_CLIENT_ID: 'reelfeed',
    REELFEED_OIDC_ONLY: 'on',
  });
  const asked = await atDoorEmpty(closed.url);
  assert.equal(asked.body.error.code, 'PASSWORD_SIGN_IN_CLOSED');
  const plain = await startService({ REELFEED_PUBLIC_URL: 'http://video.example.com' });
  assert.equal((await atDoorEmpty(plain.url)).status, 404);
  const door = await send(`${plain.url}/console/account/door`, 'GET', { headers: console1 });
  assert.equal(door.body.data.hasPasskeys, false);
  const party = relyingPartyOf('https://video.example.com:8443/app');
  assert.deepEqual(party, { id: 'video.example.com', origin: 'https://video.example.com:8443' });
  assert.equal(relyingPartyOf('https://192.0.2.1'), null);
});

const atDoorEmpty = (url: string): Promise<Reply> =>
  send(`${url}/console/account/passkey/start`, 'POST', { headers: console1 });

test('the operator removes the passkeys of somebody on the command line, and the log says so', async () => {
  const person = await createPerson(service, 'viewer');
  const { authenticator } = await register(person);
  const { body } = await person.call('GET', '/console/account');
  const env = { DATABASE_URL: toUrl(service.connection), REELFEED_DATA_DIR: service.dataDir };
  const { code, stdout, stderr } = await runCommand(['people', 'remove-passkeys', person.email], {
    env,
  });
  assert.deepEqual([code, stderr], [0, '']);
  assert.match(stdout, /^Removed the passkeys of /);
  assert.equal(await signIn(authenticator), 'PASSKEY_FAILED');
  const audit = await service.call('GET', `/v1/audit?resourceId=${body.data.id}`);
  const [last] = audit.body.data;
  assert.deepEqual([last.action, last.actor.type], ['removePasskey', 'command_line']);
});

test('the owner of a removed account can no longer sign in', async () => {
  const person = await createPerson(service, 'viewer');
  const { authenticator } = await register(person);
  const { body } = await person.call('GET', '/console/account');
  await service.call('DELETE', `/v1/people/${body.data.id}`);
  assert.equal(await signIn(authenticator), 'PASSKEY_FAILED');
  const again = await atDoor(service, 'sign-in', { email: person.email, password });
  assert.equal(again.status, 401);
});
