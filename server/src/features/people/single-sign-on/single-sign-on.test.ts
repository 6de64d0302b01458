/**
 * Sign-in through a real OpenID Connect provider: who is admitted, with which role, and what is
 * rejected.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from '../../../app/config.ts';
import {
  atDoor,
  createPerson,
  inviteBy,
  password,
  personBy,
} from '../../../../test/people/people.ts';
import { createOrganization, query } from '../../../../test/seed.ts';
import { freePort, startService } from '../../../../test/service.ts';
import {
  begin,
  clientId,
  clientSecret,
  comeBack,
  signInAtProvider,
  signInBy,
  startProvider,
} from '../../../../test/people/oidc-provider.ts';

const provider = await startProvider();
const publicUrl = `http://localhost:${await freePort()}`;
provider.redirectUris.push(`${publicUrl}/console/account/oidc/callback`);
const env = {
  REELFEED_PUBLIC_URL: publicUrl,
  REELFEED_OIDC_ISSUER: provider.issuer,
  REELFEED_OIDC_CLIENT_ID: clientId,
  REELFEED_OIDC_CLIENT_SECRET: clientSecret,
  REELFEED_OIDC_NAME: 'Example ID',
};
const mapped = {
  ...env,
  REELFEED_OIDC_DOMAINS: 'example.com,Lab.Example',
  REELFEED_OIDC_ROLES: 'staff=viewer,video=editor,cn=ops=admin',
};
const service = await startService(mapped);
const second = await startService(mapped, { beside: service });
const byDomain = await startService(
  { ...env, REELFEED_OIDC_DOMAINS: 'example.com', REELFEED_OIDC_DEFAULT_ROLE: 'analyst' },
  { beside: service },
);
const plain = await startService(env, { beside: service });
const only = await startService({ ...env, REELFEED_OIDC_ONLY: 'on' }, { beside: service });

let count = 0;
/** Creates a person known to the provider. */
function known(groups: string[] = ['staff'], more: object = {}) {
  count += 1;
  const subject = `subject-${count}`;
  const account = {
    email: `sso-${count}@example.com`,
    email_verified: true,
    name: `Person ${count}`,
    groups,
    ...more,
  };
  provider.accounts.set(subject, account);
  return { subject, account, email: account.email };
}

async function accountOf(session: string) {
  const { body } = await personBy(service, '', session).call('GET', '/console/account');
  return body.data;
}

const actionsOf = async (personId: string): Promise<string[]> => {
  const { body } = await service.call('GET', '/v1/audit?limit=100');
  return (body.data as { action: string; resourceId: string }[])
    .filter(({ resourceId }) => resourceId === personId)
    .map(({ action }) => action);
};

test('the page of the console learns the name of the provider, and nothing secret', async () => {
  const door = await service.call('GET', '/console/account/door', { key: null });
  assert.deepEqual(door.body.data.singleSignOn, { name: 'Example ID', isOnly: false });
  assert.ok(!door.text.includes(clientSecret));
});

test('a new person gets an account with the highest role of their groups, on any process', async () => {
  const { subject, email } = known(['staff', 'video', 'other']);
  const { url, cookie } = await begin(service);
  const query = new URL(url).searchParams;
  assert.equal(query.get('code_challenge_method'), 'S256');
  assert.ok(query.get('state') && query.get('nonce'));
  const back = await signInAtProvider(url, subject);
  const { session, answer } = await comeBack(second, back, cookie);
  assert.equal(answer.status, 303);
  assert.equal(answer.headers.get('location'), `${publicUrl}/console/#/overview`);
  const account = await accountOf(session);
  assert.equal(account.email, email);
  assert.equal(account.role, 'editor');
  assert.equal(account.hasPassword, false);
  assert.deepEqual(await actionsOf(account.id), ['joinBySingleSignOn']);
});

test('the role follows the groups at each sign-in, and the subject stays when the address changes', async () => {
  const { subject, account } = known(['cn=ops']);
  const first = await accountOf((await signInBy(service, subject)).session);
  assert.equal(first.role, 'admin');
  account.groups = ['staff'];
  account.email = 'renamed@lab.example';
  const later = await accountOf((await signInBy(second, subject)).session);
  assert.deepEqual([later.id, later.role], [first.id, 'viewer']);
  assert.deepEqual(await actionsOf(first.id), ['changeRoleBySingleSignOn', 'joinBySingleSignOn']);
});

test('control characters in a name are left out', async () => {
  const { subject } = known(['staff'], { name: 'Ada\u0000\u0007 Lovelace' });
  const { name } = await accountOf((await signInBy(service, subject)).session);
  assert.equal(name, 'Ada  Lovelace');
});

test('each rejection has its code, and nothing is created', async () => {
  const cases: [string, ReturnType<typeof known>][] = [
    ['SINGLE_SIGN_ON_ROLE', known(['strangers'])],
    ['SINGLE_SIGN_ON_ROLE', known([], { groups: undefined })],
    ['SINGLE_SIGN_ON_DOMAIN', known(['staff'], { email: 'ada@example.com.evil.test' })],
    ['SINGLE_SIGN_ON_EMAIL', known(['staff'], { email_verified: false })],
    ['SINGLE_SIGN_ON_EMAIL', known(['staff'], { email_verified: undefined })],
    ['SINGLE_SIGN_ON_EMAIL', known(['staff'], { email: undefined })],
    ['SINGLE_SIGN_ON_EMAIL', known(['staff'], { email: 'nul\u0000@example.com' })],
  ];
  for (const [code, { subject }] of cases) {
    const { refused, session } = await signInBy(service, subject);
    assert.deepEqual([refused, session], [code, '']);
  }
  const { subject } = known();
  assert.equal((await signInBy(plain, subject)).refused, 'SINGLE_SIGN_ON_ACCOUNT');
  assert.equal((await signInBy(service, 'nobody')).refused, 'SINGLE_SIGN_ON_REFUSED');
});

test('an ID token that is forged, for others, old or from the future is refused', async () => {
  const { subject } = known();
  const seconds = () => Math.floor(Date.now() / 1_000);
  const forgeries: Record<string, (claims: Record<string, unknown>) => void> = {
    audience: (claims) => (claims['aud'] = 'somebody-else'),
    issuer: (claims) => (claims['iss'] = 'https://elsewhere.example'),
    nonce: (claims) => (claims['nonce'] = 'another'),
    'no nonce': (claims) => delete claims['nonce'],
    expired: (claims) => (claims['exp'] = seconds() - 120),
    'not yet': (claims) => (claims['nbf'] = seconds() + 120),
  };
  for (const [name, tamper] of Object.entries(forgeries)) {
    provider.tamper = tamper;
    assert.equal((await signInBy(service, subject)).refused, 'SINGLE_SIGN_ON_INVALID', name);
  }
  provider.tamper = null;
  provider.signsFalsely = true;
  assert.equal((await signInBy(service, subject)).refused, 'SINGLE_SIGN_ON_INVALID');
  provider.signsFalsely = false;
  // A clock difference of half a minute is tolerated.
  provider.tamper = (claims) => Object.assign(claims, { exp: seconds() - 30, nbf: seconds() + 30 });
  assert.equal((await signInBy(service, subject)).refused, null);
  provider.tamper = null;
});

test('an answer counts once, in the browser that has begun', async () => {
  const { subject } = known();
  const { url, cookie } = await begin(service);
  const back = await signInAtProvider(url, subject);
  const other = await begin(service);
  // Someone else's link, without a cookie and with another sign-in's cookie.
  assert.equal((await comeBack(service, back, '')).refused, 'SINGLE_SIGN_ON_STATE');
  assert.equal((await comeBack(service, back, other.cookie)).refused, 'SINGLE_SIGN_ON_STATE');
  const stolen = new URL(back);
  stolen.searchParams.set('state', 'guessed');
  assert.equal((await comeBack(service, stolen, cookie)).refused, 'SINGLE_SIGN_ON_STATE');
  // The code of one sign-in with the state of another is rejected by PKCE.
  const mixed = new URL(back);
  mixed.searchParams.set('state', String(new URL(other.url).searchParams.get('state')));
  assert.equal((await comeBack(service, mixed, other.cookie)).refused, 'SINGLE_SIGN_ON_INVALID');
  const fresh = await begin(service);
  const freshBack = await signInAtProvider(fresh.url, subject);
  const both = await Promise.all([
    comeBack(service, freshBack, fresh.cookie),
    comeBack(second, freshBack, fresh.cookie),
  ]);
  assert.deepEqual(both.map(({ refused }) => refused ?? 'in').toSorted(), [
    'SINGLE_SIGN_ON_STATE',
    'in',
  ]);
});

test('only the page of the console begins, and a provider that is away is named', async () => {
  const foreign = await service.call('POST', '/console/account/oidc/start', { key: null });
  assert.equal(foreign.status, 403);
  const { subject } = known();
  const { url, cookie } = await begin(service);
  const back = await signInAtProvider(url, subject);
  provider.isDown = true;
  const away = await service.call('POST', '/console/account/oidc/start', {
    key: null,
    headers: { 'x-reelfeed-console': '1' },
  });
  assert.equal(away.body.error.code, 'SINGLE_SIGN_ON_UNREACHABLE');
  assert.equal((await comeBack(service, back, cookie)).refused, 'SINGLE_SIGN_ON_UNREACHABLE');
  provider.isDown = false;
  assert.equal((await signInBy(service, subject)).refused, null);
});

test('new keys of the provider are known at once, also between the way there and back', async () => {
  const { subject } = known();
  assert.equal((await signInBy(service, subject)).refused, null);
  const { url, cookie } = await begin(service);
  // The test provider forgets its codes along with its keys, so it rotates before issuing one.
  provider.rotate();
  const back = await signInAtProvider(url, subject);
  assert.equal((await comeBack(service, back, cookie)).refused, null);
});

test('a sign-in that one process started continues after the process is gone', async () => {
  const { subject } = known();
  const first = await startService(mapped, { beside: service });
  const { url, cookie } = await begin(first);
  await first[Symbol.asyncDispose]();
  const back = await signInAtProvider(url, subject);
  assert.equal((await comeBack(second, back, cookie)).refused, null);
});

test('an account with the address is linked, and its earlier credentials no longer work', async () => {
  const member = await createPerson(service, 'editor');
  await query(
    service,
    `insert into passkey (passkey_id, person_id, credential_id, public_key, counter, transports, name)
     select 'psk_of_before', person_id, 'id', 'key', 0, '{}', 'Laptop' from person where email = $1`,
    [member.email],
  );
  const { subject } = known([], { email: member.email.toUpperCase() });
  const { session } = await signInBy(byDomain, subject);
  const account = await accountOf(session);
  assert.deepEqual([account.email, account.role], [member.email, 'editor']);
  assert.equal(account.hasPassword, false);
  assert.equal((await member.call('GET', '/v1/content')).status, 401);
  const signIn = await atDoor(service, 'sign-in', { email: member.email, password });
  assert.equal(signIn.body.error.code, 'SIGN_IN_FAILED');
  assert.deepEqual(
    await query(service, `select from passkey where passkey_id = 'psk_of_before'`),
    [],
  );
  assert.equal((await actionsOf(account.id))[0], 'linkSingleSignOn');
  // The provider reassigns the address to someone else.
  const heir = known([], { email: member.email });
  assert.equal((await signInBy(byDomain, heir.subject)).refused, 'SINGLE_SIGN_ON_OTHER');
});

test('without a mapped group the default role holds, and somebody removed has no session', async () => {
  const { subject } = known([]);
  const { session } = await signInBy(byDomain, subject);
  const { id, role } = await accountOf(session);
  assert.equal(role, 'analyst');
  assert.equal((await service.call('DELETE', `/v1/people/${id}`)).status, 200);
  assert.equal((await personBy(service, '', session).call('GET', '/v1/content')).status, 401);
  // The provider still vouches for the person, who gets a new account.
  const again = await accountOf((await signInBy(byDomain, subject)).session);
  assert.notEqual(again.id, id);
});

test('an invitation is accepted by the first sign-in; a domain may have its own organization', async () => {
  const invited = known([]);
  await inviteBy(service, invited.email, 'admin');
  assert.equal((await accountOf((await signInBy(plain, invited.subject)).session)).role, 'admin');
  const { secretKey } = await createOrganization(service, 'Of the domain');
  const { body } = await service.call('GET', '/v1/organization', { key: secretKey });
  const organizationId = String(body.data.id);
  const own = await startService(
    {
      ...env,
      REELFEED_OIDC_DOMAINS: `example.com=${organizationId}`,
      REELFEED_OIDC_DEFAULT_ROLE: 'owner',
    },
    { beside: service },
  );
  const { subject } = known([]);
  const account = await accountOf((await signInBy(own, subject)).session);
  assert.deepEqual([account.organizationId, account.role], [organizationId, 'owner']);
});

test('with single sign-on only, passwords give no access', async () => {
  const member = await createPerson(service, 'viewer');
  const email = 'invited-only@example.com';
  const token = await inviteBy(service, email, 'viewer');
  for (const [path, body] of [
    ['sign-in', { email: member.email, password }],
    ['reset-request', { email: member.email }],
    ['reset', { token, password }],
    ['accept', { token, name: 'New', password }],
  ] as const) {
    const { body: answer } = await atDoor(only, path, body);
    assert.equal(answer.error.code, 'PASSWORD_SIGN_IN_CLOSED', path);
  }
  // Existing sessions continue.
  assert.equal((await member.call('GET', '/v1/content')).status, 200);
  const { subject } = known([], { email });
  const { session } = await signInBy(only, subject);
  // The signed-in person accepts another organization's invitation.
  const other = await createOrganization(service, 'The other');
  const link = await inviteBy(service, email, 'editor', other.secretKey);
  const accepted = await personBy(only, email, session).call('POST', '/console/account/accept', {
    body: { token: link, password: 'none' },
  });
  assert.equal(accepted.status, 200);
});

test('incompatible settings are rejected by name at startup', async () => {
  const start = (more: Record<string, string>) => startService({ ...env, ...more });
  await assert.rejects(start({ REELFEED_OIDC_CLIENT_ID: '' }), /REELFEED_OIDC_CLIENT_ID/);
  await assert.rejects(start({ REELFEED_OIDC_ROLES: 'a=viewer' }), /REELFEED_OIDC_DOMAINS/);
  await assert.rejects(
    start({ REELFEED_OIDC_ISSUER: '', REELFEED_OIDC_ONLY: 'on' }),
    /REELFEED_OIDC_ISSUER/,
  );
  const wrong = {
    REELFEED_OIDC_ISSUER: 'http://login.example.com',
    REELFEED_OIDC_DOMAINS: '@example.com=org_1',
    REELFEED_OIDC_ROLES: 'staff=king',
  };
  for (const [name, value] of Object.entries(wrong)) {
    assert.throws(() => readConfig({ [name]: value }), new RegExp(name));
  }
});
