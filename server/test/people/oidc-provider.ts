/** A real OpenID Connect provider on loopback, and browsers that sign in through it. */
import { createSign, generateKeyPairSync, type JsonWebKey, type KeyObject } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider, { type JWK } from 'oidc-provider';
import { atEnd } from '../database.ts';
import { send, type Reply, type TestService } from '../service.ts';
import { cookieOf } from './people.ts';

export const clientId = 'reelfeed';
export const clientSecret = 'a secret of the client that nobody else knows';

export type Account = {
  email?: string;
  email_verified?: boolean;
  name?: string;
  groups?: string[];
};

type Key = { kid: string; privateKey: KeyObject };

export type TestProvider = {
  issuer: string;
  /** Accounts by subject. */
  accounts: Map<string, Account>;
  /** The subject that signs in with a real browser. */
  browserSubject: string;
  /** Allowed redirect addresses of the client. */
  redirectUris: string[];
  /** Switches to a new signing key and publishes only that key. */
  rotate(): void;
  /** Modifies the claims of ID tokens before they are signed. */
  tamper: ((claims: Record<string, unknown>) => void) | null;
  /** Signs with an unpublished key. */
  signsFalsely: boolean;
  /** Returns only errors. */
  isDown: boolean;
};

export async function startProvider(): Promise<TestProvider> {
  let key = newKey();
  let provider: Provider | null = null;
  const server = createServer((request, response) => {
    if (state.isDown) {
      response.writeHead(503).end();
      return;
    }
    provider ??= createProvider(state, key);
    const current = provider;
    if (request.url?.startsWith('/interaction/') === true) {
      const accountId = String(request.headers['x-account'] ?? state.browserSubject);
      const result = accountId === 'nobody' ? { error: 'access_denied' } : { login: { accountId } };
      void current.interactionFinished(request, response, result);
      return;
    }
    void current.callback()(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const state: TestProvider = {
    issuer: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    accounts: new Map(),
    browserSubject: 'nobody',
    redirectUris: [],
    rotate() {
      key = newKey();
      provider = null;
    },
    tamper: null,
    signsFalsely: false,
    isDown: false,
  };
  return state;
}

let keys = 0;
function newKey(): Key {
  keys += 1;
  return {
    kid: `key-${keys}`,
    privateKey: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
  };
}

function createProvider(state: TestProvider, key: Key): Provider {
  const jwk: JsonWebKey = key.privateKey.export({ format: 'jwk' });
  const provider = new Provider(state.issuer, {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: state.redirectUris,
        response_types: ['code'],
        grant_types: ['authorization_code'],
      },
    ],
    jwks: { keys: [{ ...(jwk as JWK), kid: key.kid, alg: 'RS256', use: 'sig' }] },
    cookies: { keys: ['only for tests'] },
    claims: { email: ['email', 'email_verified'], profile: ['name', 'groups'] },
    pkce: { required: () => true },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_ctx, interaction) => `/interaction/${interaction.uid}` },
    findAccount: (_ctx, sub) => ({
      accountId: sub,
      claims: () => ({ sub, ...state.accounts.get(sub) }),
    }),
    // Skips the consent page.
    async loadExistingGrant(ctx) {
      const grant = new ctx.oidc.provider.Grant({
        clientId,
        accountId: String(ctx.oidc.session?.accountId),
      });
      grant.addOIDCScope('openid email profile');
      await grant.save();
      return grant;
    },
  });
  provider.use(async (ctx, next) => {
    await next();
    const body = ctx.body as { id_token?: string } | undefined;
    if (ctx.path !== '/token' || body?.id_token === undefined) return;
    if (state.tamper === null && !state.signsFalsely) return;
    body.id_token = signAgain(
      body.id_token,
      state.signsFalsely ? newKey().privateKey : key.privateKey,
      state.tamper ?? (() => undefined),
    );
  });
  return provider;
}

function signAgain(
  token: string,
  key: KeyObject,
  change: (claims: Record<string, unknown>) => void,
): string {
  const [head = '', body = ''] = token.split('.');
  const claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as Record<string, unknown>;
  change(claims);
  const signed = `${head}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`;
  return `${signed}.${createSign('RSA-SHA256').update(signed).sign(key, 'base64url')}`;
}

/** The browser's state during a sign-in. */
export type Begun = { url: string; cookie: string };

/** Presses the button on the sign-in page. */
export async function begin(service: TestService): Promise<Begun> {
  const answer = await send(`${service.url}/console/account/oidc/start`, 'POST', {
    headers: { 'x-reelfeed-console': '1' },
  });
  if (answer.status !== 200) throw new Error(answer.text);
  const cookie = answer.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  return { url: String(answer.body.data.url), cookie };
}

/** Signs in at the provider. Returns the redirect back. */
export async function signInAtProvider(url: string, subject: string): Promise<URL> {
  const jar = new Map<string, string>();
  let next = url;
  for (let step = 0; step < 6; step += 1) {
    const answer = await fetch(next, {
      redirect: 'manual',
      headers: {
        'x-account': subject,
        cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; '),
      },
    });
    for (const cookie of answer.headers.getSetCookie()) {
      const [name = '', value = ''] = (cookie.split(';')[0] ?? '').split('=');
      jar.set(name, value);
    }
    const location = answer.headers.get('location');
    if (location === null) throw new Error(`${answer.status} ${await answer.text()}`);
    next = new URL(location, next).href;
    if (new URL(next).pathname.startsWith('/console/')) return new URL(next);
  }
  throw new Error('The provider leads nowhere.');
}

/** Follows the redirect back to a process of the service. */
export async function comeBack(
  service: TestService,
  back: URL,
  cookie: string,
): Promise<{ refused: string | null; session: string; answer: Reply }> {
  const answer = await send(service.url + back.pathname + back.search, 'GET', {
    headers: cookie === '' ? {} : { cookie },
  });
  const refused = /\?refused=(\w+)$/.exec(answer.headers.get('location') ?? '')?.[1] ?? null;
  return { refused, session: cookieOf(answer), answer };
}

/** The complete sign-in. */
export async function signInBy(
  service: TestService,
  subject: string,
): Promise<{ refused: string | null; session: string; answer: Reply }> {
  const { url, cookie } = await begin(service);
  return comeBack(service, await signInAtProvider(url, subject), cookie);
}
