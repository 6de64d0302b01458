/**
 * Tokens by OAuth client credentials (RFC 6749, 4.4): fetched once for all deliveries of a webhook,
 * and again shortly before they expire.
 */
import { LRUCache } from 'lru-cache';
import type { Egress } from '../../../../platform/egress/egress.ts';
import { EgressError } from '../../../../platform/egress/egress-errors.ts';
import type { OAuth } from './destination.ts';
import { DestinationError, type SendOptions, type Target } from './driver.ts';

type Token = { readonly token: string; readonly endsAt: number };

const maxTokens = 10_000;
const maxAnswerBytes = 65_536;
/** Lifetime if the response does not specify one. */
const defaultLifeS = 300;
const maxLifeS = 86_400;
/** A token that expires within this time is replaced first. */
const marginMs = 10_000;

export class Tokens {
  readonly #egress: Egress;
  readonly #known = new LRUCache<string, Token>({ max: maxTokens });
  readonly #coming = new Map<string, Promise<Token>>();

  constructor(egress: Egress) {
    this.#egress = egress;
  }

  /**
   * @returns the token, and whether it was fetched for this call
   * @throws {DestinationError | EgressError} for a blocked address, or the signal's reason
   */
  async get(target: Target, options: SendOptions): Promise<{ token: string; isNew: boolean }> {
    const name = nameOf(target);
    const known = this.#known.get(name);
    if (known !== undefined && performance.now() < known.endsAt - marginMs) {
      return { token: known.token, isNew: false };
    }
    let coming = this.#coming.get(name);
    if (coming === undefined) {
      coming = this.#fetch(target, options).finally(() => this.#coming.delete(name));
      this.#coming.set(name, coming);
    }
    const token = await coming;
    this.#known.set(name, token);
    return { token: token.token, isNew: true };
  }

  /** Does nothing if the token has been replaced already. */
  forget(target: Target, token: string): void {
    const name = nameOf(target);
    if (this.#known.get(name)?.token === token) this.#known.delete(name);
  }

  async #fetch({ oauth, credentials }: Target, { timeoutMs, signal }: SendOptions): Promise<Token> {
    const clientSecret = credentials.oauth?.clientSecret;
    if (oauth === undefined || clientSecret === undefined) {
      throw new DestinationError('token_error', 'the webhook has no client credentials');
    }
    const request = {
      url: oauth.tokenUrl,
      method: 'POST' as const,
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        accept: 'application/json',
        authorization: basic(oauth.clientId, clientSecret),
      },
      body: formOf(oauth),
      totalTimeoutMs: timeoutMs,
      maxBodyBytes: maxAnswerBytes,
    };
    const requestedAt = performance.now();
    const answer = await this.#egress.request(request, signal).catch((error: unknown) => {
      if (!(error instanceof EgressError) || error.failure === 'blocked_address') throw error;
      throw new DestinationError('token_error', `no token: ${error.failure}`, error);
    });
    return tokenOf(answer.status, answer.body, requestedAt);
  }
}

/** Identifies a webhook together with everything that its token depends on. */
function nameOf({ webhookId, oauth, credentials }: Target): string {
  return JSON.stringify([webhookId, oauth, credentials.oauth?.clientSecret]);
}

function formOf({ scope, audience }: OAuth): string {
  const form = new URLSearchParams({ grant_type: 'client_credentials' });
  if (scope !== undefined) form.set('scope', scope);
  if (audience !== undefined) form.set('audience', audience);
  return form.toString();
}

/** RFC 6749, 2.3.1: both are form-encoded first. */
function basic(clientId: string, clientSecret: string): string {
  const encoded = [clientId, clientSecret].map((text) =>
    new URLSearchParams([['', text]]).toString().slice(1),
  );
  return `Basic ${Buffer.from(encoded.join(':')).toString('base64')}`;
}

function tokenOf(status: number, body: Buffer, requestedAt: number): Token {
  const refused = (what: string) => new DestinationError('token_error', `no token: ${what}`);
  if (status !== 200) throw refused(`status ${status}`);
  let answer: { access_token?: unknown; expires_in?: unknown };
  try {
    answer = JSON.parse(body.toString('utf8')) as typeof answer;
  } catch {
    throw refused('the response is not JSON');
  }
  const { access_token: token, expires_in: lifeS } = answer ?? {};
  if (typeof token !== 'string' || !/^[\x21-\x7e]{1,16384}$/.test(token)) {
    throw refused('the response contains no token');
  }
  const seconds = typeof lifeS === 'number' && lifeS > 0 ? Math.min(lifeS, maxLifeS) : defaultLifeS;
  return { token, endsAt: requestedAt + seconds * 1_000 };
}
