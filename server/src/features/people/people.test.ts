/** The lifecycle of people: accounts, invitations, roles, sessions, removal. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createOrganization } from '../../../test/seed.ts';
import { startService } from '../../../test/service.ts';
import {
  atDoor,
  cookieOf,
  createPerson,
  inviteBy,
  password,
  personBy,
} from '../../../test/people/people.ts';

const service = await startService();
const second = await startService({}, { beside: service });
const owner = await createPerson(service, 'owner');

const meOf = async (person: typeof owner) =>
  (await person.call('GET', '/console/account')).body.data;

test('a session is a cookie that no script reads, and counts only with the header', async () => {
  const signedIn = await atDoor(service, 'sign-in', { email: ' OWNER-1@Example.com', password });
  assert.equal(signedIn.status, 400, 'no spaces in an address');
  const again = await atDoor(service, 'sign-in', { email: 'OWNER-1@Example.com', password });
  assert.equal(again.status, 200);
  const [cookie = ''] = again.headers.getSetCookie();
  assert.match(cookie, /^reelfeed_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=/);
  const bare = await fetch(`${service.url}/v1/people`, { headers: { cookie: cookieOf(again) } });
  assert.equal(bare.status, 401);
  assert.equal((await owner.call('GET', '/v1/people')).status, 200);
  const me = await meOf(owner);
  assert.equal(me.role, 'owner');
  assert.equal(me.hasSecondFactor, false);
});

test('once there is an owner, secret keys can no longer sign in to the console', async () => {
  const body = { secretKey: service.secretKey };
  const headers = { 'x-reelfeed-console': '1' };
  const refused = await service.call('POST', '/console/session', { key: null, headers, body });
  assert.equal(refused.body.error.code, 'KEY_SIGN_IN_CLOSED');
  const other = await createOrganization(service, 'Without people');
  const open = { secretKey: other.secretKey };
  const allowed = await service.call('POST', '/console/session', {
    key: null,
    headers,
    body: open,
  });
  assert.equal(allowed.status, 200);
});

test('a link of an invitation works once, and a new one replaces it', async () => {
  const replaced = await inviteBy(service, 'ada@example.com', 'viewer');
  const token = await inviteBy(service, 'Ada@Example.com', 'editor');
  const accept = (given: string) =>
    atDoor(service, 'accept', { token: given, name: 'Ada', password });
  assert.equal((await accept(replaced)).body.error.code, 'LINK_OVER');
  const seen = await atDoor(service, 'invitation', { token });
  assert.deepEqual(seen.body.data, {
    organization: 'My organization',
    email: 'ada@example.com',
    role: 'editor',
    hasAccount: false,
  });
  const both = await Promise.all([accept(token), accept(token)]);
  assert.deepEqual(both.map(({ status }) => status).toSorted(), [200, 404]);
  const { body } = await owner.call('GET', '/v1/people/invitations');
  assert.deepEqual(body.data, []);
});

test('passwords that are easy to guess are refused', async () => {
  const token = await inviteBy(service, 'bob@example.com', 'viewer');
  for (const weak of ['short', 'aaaaaaaaaaaaaaa', 'password1234', 'bob@example.com1']) {
    const answer = await atDoor(service, 'accept', { token, name: 'Bob', password: weak });
    assert.equal(answer.body.error.code, 'VALIDATION_ERROR', weak);
  }
});

test('one account works in several organizations, with a role in each', async () => {
  const other = await createOrganization(service, 'The second');
  const person = await createPerson(service, 'viewer');
  const token = await inviteBy(service, person.email, 'admin', other.secretKey);
  const refused = await atDoor(service, 'accept', { token, password: 'not the password at all' });
  assert.equal(refused.body.error.code, 'SIGN_IN_FAILED');
  const accepted = await atDoor(service, 'accept', { token, password });
  const here = personBy(service, person.email, cookieOf(accepted));
  const me = await meOf(here);
  assert.equal(me.role, 'admin');
  assert.deepEqual(
    me.organizations.map(({ name, role }: { name: string; role: string }) => [name, role]),
    [
      ['My organization', 'viewer'],
      ['The second', 'admin'],
    ],
  );
  assert.equal((await here.call('GET', '/v1/keys')).status, 200);
  const [{ id }] = me.organizations;
  const switched = await here.call('POST', '/console/account/organization', {
    body: { organizationId: id },
  });
  assert.equal(switched.status, 200);
  assert.equal((await here.call('GET', '/v1/keys')).status, 403);
  const foreign = await owner.call('POST', '/console/account/organization', {
    body: { organizationId: me.organizationId },
  });
  assert.equal(foreign.status, 404);
});

test('nobody can grant a role above their own, and the last owner stays', async () => {
  const admin = await createPerson(service, 'admin');
  const invited = await admin.call('POST', '/v1/people/invitations', {
    body: { email: 'eve@example.com', role: 'owner' },
  });
  assert.equal(invited.status, 403);
  const { id: ownerId } = await meOf(owner);
  const { id: adminId } = await meOf(admin);
  const patch = (by: typeof owner, id: string, role: string) =>
    by.call('PATCH', `/v1/people/${id}`, { body: { role } });
  assert.equal((await patch(admin, adminId, 'owner')).status, 403);
  assert.equal((await patch(admin, ownerId, 'viewer')).status, 403);
  assert.equal((await admin.call('DELETE', `/v1/people/${ownerId}`)).status, 403);
  assert.equal((await patch(owner, ownerId, 'admin')).body.error.code, 'LAST_OWNER');
  assert.equal((await owner.call('DELETE', `/v1/people/${ownerId}`)).status, 409);
  assert.equal((await patch(owner, adminId, 'owner')).status, 200);
  // Both step down concurrently, but one of them must remain an owner.
  const both = await Promise.all([
    patch(owner, adminId, 'viewer'),
    patch(admin, ownerId, 'viewer'),
  ]);
  assert.equal(both.filter(({ status }) => status === 200).length, 1);
  const { body } = await service.call('GET', '/v1/people');
  const owners = body.data.filter(({ role }: { role: string }) => role === 'owner');
  assert.equal(owners.length, 1);
  await service.call('PATCH', `/v1/people/${ownerId}`, { body: { role: 'owner' } });
  await service.call('PATCH', `/v1/people/${adminId}`, { body: { role: 'admin' } });
  // An admin can't create a key with more rights than an admin.
  const key = await admin.call('POST', '/v1/keys', { body: { type: 'secret', name: 'All' } });
  assert.equal(key.status, 403);
});

test('a removed person, a lower role and an ended session count at once, on every process', async () => {
  const person = await createPerson(service, 'editor');
  const there = personBy(second, person.email, person.cookie);
  assert.equal((await there.call('GET', '/v1/content')).status, 200);
  const { id } = await meOf(person);
  await owner.call('PATCH', `/v1/people/${id}`, { body: { role: 'viewer' } });
  const made = await there.call('PUT', '/v1/flags/a', { body: { value: true } });
  assert.equal(made.status, 403);
  const { body } = await owner.call('GET', `/v1/sessions?personId=${id}`);
  assert.equal(body.data.length, 1);
  assert.equal(body.data[0].isCurrent, false);
  await owner.call('DELETE', `/v1/sessions/${body.data[0].id}`);
  assert.equal((await there.call('GET', '/v1/content')).status, 401);
  const again = await atDoor(service, 'sign-in', { email: person.email, password });
  const back = personBy(second, person.email, cookieOf(again));
  assert.equal((await back.call('GET', '/v1/content')).status, 200);
  assert.equal((await owner.call('DELETE', `/v1/people/${id}`)).status, 200);
  assert.equal((await back.call('GET', '/v1/content')).status, 401);
  const gone = await atDoor(service, 'sign-in', { email: person.email, password });
  assert.equal(gone.body.error.code, 'SIGN_IN_FAILED');
});

test('signing out ends the session on the server', async () => {
  const person = await createPerson(service, 'viewer');
  await person.call('DELETE', '/console/session');
  assert.equal((await person.call('GET', '/v1/content')).status, 401);
});

test('a new password ends the other sessions, and needs the old one', async () => {
  const person = await createPerson(service, 'viewer');
  const signedIn = await atDoor(service, 'sign-in', { email: person.email, password });
  const other = personBy(service, person.email, cookieOf(signedIn));
  const change = (current: string) =>
    person.call('POST', '/console/account/password', {
      body: { current, password: 'other words than before' },
    });
  assert.equal((await change('wrong')).status, 400);
  assert.equal((await change(password)).status, 200);
  assert.equal((await person.call('GET', '/v1/content')).status, 200);
  assert.equal((await other.call('GET', '/v1/content')).status, 401);
});

test('the audit log names the person', async () => {
  const person = await createPerson(service, 'editor');
  await person.call('PUT', '/v1/flags/audited', { body: { value: true } });
  const { id } = await meOf(person);
  const { body } = await owner.call('GET', `/v1/audit?personId=${id}`);
  assert.deepEqual(
    body.data.map(({ action }: { action: string }) => action),
    ['putFlag', 'acceptInvitation'],
  );
  assert.deepEqual(body.data[0].actor, {
    type: 'person',
    keyId: null,
    keyName: null,
    systemUser: null,
    personId: id,
    personName: 'The editor',
  });
  assert.equal(JSON.stringify(body).includes(password), false);
});
