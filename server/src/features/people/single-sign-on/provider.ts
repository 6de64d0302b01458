/**
 * The provider of single sign-on: OpenID Connect, authorization code with PKCE, state and nonce, by the
 * library `openid-client`. It checks issuer, audience, signature, nonce and times of what comes back.
 *
 * The provider's metadata and keys are asked for at each sign-in and never cached: there are few
 * sign-ins, and so keys that the provider has just replaced are known on every process.
 */
import { createHmac } from 'node:crypto';
import * as client from 'openid-client';
import { ApiError } from '../../../platform/http/errors.ts';
import { peopleErrors } from '../errors.ts';
import { isLoopback, type SingleSignOnConfig } from './settings.ts';

const timeoutSeconds = 10;
/** How far the clocks of both sides may be apart. */
const clockToleranceSeconds = 60;

/** What the provider says about somebody. */
export type Claims = Readonly<Record<string, unknown>> & { readonly sub: string };

export type Provider = {
  /** Where the browser goes. @throws ApiError SINGLE_SIGN_ON_UNREACHABLE */
  begin(token: string): Promise<string>;
  /** Whether an answer of the provider is for the browser that holds a token. */
  isFor(answer: URL, token: string): boolean;
  /** @throws ApiError SINGLE_SIGN_ON_REFUSED, SINGLE_SIGN_ON_INVALID, SINGLE_SIGN_ON_UNREACHABLE */
  finish(answer: URL, token: string): Promise<Claims>;
};

export function createProvider(config: SingleSignOnConfig, redirectUri: string): Provider {
  const { issuer, clientId, clientSecret, scopes, roleClaim, roles } = config;

  async function discover(): Promise<client.Configuration> {
    const url = new URL(issuer);
    const execute = [client.enableNonRepudiationChecks];
    if (url.protocol === 'http:' && isLoopback(url)) execute.push(client.allowInsecureRequests);
    const metadata = { [client.clockTolerance]: clockToleranceSeconds };
    const proof = clientSecret === null ? client.None() : client.ClientSecretBasic(clientSecret);
    return client
      .discovery(url, clientId, metadata, proof, { execute, timeout: timeoutSeconds })
      .catch((cause: unknown) => {
        throw new ApiError(peopleErrors.SINGLE_SIGN_ON_UNREACHABLE, { cause });
      });
  }

  async function redeem(answer: URL, token: string): Promise<Claims> {
    const provider = await discover();
    const tokens = await client.authorizationCodeGrant(provider, answer, {
      pkceCodeVerifier: derive(token, 'verifier'),
      expectedState: derive(token, 'state'),
      expectedNonce: derive(token, 'nonce'),
      idTokenExpected: true,
    });
    const claims = tokens.claims();
    if (claims === undefined) throw new Error('The provider gave no ID token.');
    const isComplete = 'email' in claims && (roles.length === 0 || roleClaim in claims);
    if (isComplete || provider.serverMetadata().userinfo_endpoint === undefined) return claims;
    // Many providers put the address and groups there alone.
    const more = await client.fetchUserInfo(provider, tokens.access_token, claims.sub);
    return { ...more, ...claims };
  }

  return {
    async begin(token) {
      const provider = await discover();
      const url = client.buildAuthorizationUrl(provider, {
        redirect_uri: redirectUri,
        response_type: 'code',
        scope: scopes.join(' '),
        state: derive(token, 'state'),
        nonce: derive(token, 'nonce'),
        code_challenge: await client.calculatePKCECodeChallenge(derive(token, 'verifier')),
        code_challenge_method: 'S256',
      });
      return url.href;
    },
    isFor: (answer, token) => answer.searchParams.get('state') === derive(token, 'state'),
    finish: (answer, token) =>
      redeem(answer, token).catch((cause: unknown) => {
        if (cause instanceof ApiError) throw cause;
        const isRefusal = cause instanceof client.AuthorizationResponseError;
        const error = isRefusal
          ? peopleErrors.SINGLE_SIGN_ON_REFUSED
          : peopleErrors.SINGLE_SIGN_ON_INVALID;
        throw new ApiError(error, { cause });
      }),
  };
}

/** State, nonce and verifier come from the token of the browser: nothing else needs to be kept. */
function derive(token: string, use: 'state' | 'nonce' | 'verifier'): string {
  return createHmac('sha256', token).update(use).digest('base64url');
}
