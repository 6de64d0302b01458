/**
 * The single sign-on provider: OpenID Connect with authorization code, PKCE, state and nonce, using
 * `openid-client`, which checks the issuer, audience, signature, nonce and times of the response.
 *
 * The provider's metadata and keys are fetched for each sign-in and never cached: sign-ins are
 * rare, and this way every process knows the current key even if the provider has just replaced it.
 */
import { createHmac } from 'node:crypto';
import * as client from 'openid-client';
import { ApiError } from '../../../platform/http/errors.ts';
import { peopleErrors } from '../errors.ts';
import { isLoopback, type SingleSignOnConfig } from './settings.ts';

const timeoutSeconds = 10;
/** Tolerated clock difference. */
const clockToleranceSeconds = 60;

/** The provider's claims about a person. */
export type IdentityClaims = Readonly<Record<string, unknown>> & { readonly sub: string };

export type Provider = {
  /**
   * Returns the URL to redirect the browser to.
   *
   * @throws {ApiError} SINGLE_SIGN_ON_UNREACHABLE
   */
  begin(token: string): Promise<string>;
  /** Whether a response from the provider is for the browser that holds the token. */
  isFor(answer: URL, token: string): boolean;
  /**
   * @throws {ApiError} SINGLE_SIGN_ON_REFUSED, SINGLE_SIGN_ON_INVALID, SINGLE_SIGN_ON_UNREACHABLE
   */
  finish(answer: URL, token: string): Promise<IdentityClaims>;
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

  async function redeem(answer: URL, token: string): Promise<IdentityClaims> {
    const provider = await discover();
    const tokens = await client.authorizationCodeGrant(provider, answer, {
      pkceCodeVerifier: derive(token, 'verifier'),
      expectedState: derive(token, 'state'),
      expectedNonce: derive(token, 'nonce'),
      idTokenExpected: true,
    });
    const claims = tokens.claims();
    if (claims === undefined) throw new Error('The provider returned no ID token.');
    const isComplete = 'email' in claims && (roles.length === 0 || roleClaim in claims);
    if (isComplete || provider.serverMetadata().userinfo_endpoint === undefined) return claims;
    // Many providers return the address and groups only there.
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

/** State, nonce and verifier are derived from the browser's token, so nothing else is stored. */
function derive(token: string, use: 'state' | 'nonce' | 'verifier'): string {
  return createHmac('sha256', token).update(use).digest('base64url');
}
