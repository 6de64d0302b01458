/**
 * Registration and authentication with passkeys (WebAuthn). `@simplewebauthn/server` verifies the
 * browser's response: signature, challenge, origin, relying party, and that the authenticator has
 * verified its user. A passkey therefore counts as two factors: the device and what unlocks it.
 *
 * A ceremony is bound to the browser that started it by a token in an HttpOnly cookie, from which
 * its challenge is derived. It can be completed once, within five minutes; a registration must also
 * be completed in the session that started it.
 */
import { createHash } from 'node:crypto';
import { isIP } from 'node:net';
import type { Static } from 'typebox';
import type { PersonId } from '../../../platform/values/ids.ts';
import { isLoopback } from '../single-sign-on/settings.ts';
import type { Credential, NewPasskey, PasskeyRow } from './queries.ts';
import type { Assertion, Attestation } from './schemas.ts';

/** Loaded at the first ceremony: the library has 250 modules, and most processes never need it. */
const webAuthn = () => import('@simplewebauthn/server');

/** The service for which passkeys are created. Browsers offer them only on this origin. */
export type RelyingParty = { readonly id: string; readonly origin: string };

export const ceremonySeconds = 300;

/** Returns null if browsers don't support passkeys there: at an IP address, or without HTTPS. */
export function relyingPartyOf(publicUrl: string): RelyingParty | null {
  const url = new URL(publicUrl);
  const isSafe = url.protocol === 'https:' || isLoopback(url);
  if (!isSafe || isIP(url.hostname.replaceAll(/[[\]]/g, '')) !== 0) return null;
  return { id: url.hostname, origin: url.origin };
}

/** The challenge for the browser to sign; the token itself stays in the cookie. */
function challengeOf(token: string): Buffer {
  return createHash('sha256').update(`passkey challenge ${token}`).digest();
}

export async function registrationOptions(
  party: RelyingParty,
  person: { personId: PersonId; email: string; name: string },
  known: readonly PasskeyRow[],
  token: string,
) {
  const { generateRegistrationOptions } = await webAuthn();
  return generateRegistrationOptions({
    rpName: 'Reelfeed',
    rpID: party.id,
    userID: new Uint8Array(Buffer.from(person.personId)),
    userName: person.email,
    userDisplayName: person.name,
    challenge: new Uint8Array(challengeOf(token)),
    timeout: ceremonySeconds * 1_000,
    attestationType: 'none',
    excludeCredentials: known.map(({ credential_id: id }) => ({ id: id.toString('base64url') })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  });
}

export async function signInOptions(party: RelyingParty, token: string) {
  const { generateAuthenticationOptions } = await webAuthn();
  return generateAuthenticationOptions({
    rpID: party.id,
    challenge: new Uint8Array(challengeOf(token)),
    timeout: ceremonySeconds * 1_000,
    userVerification: 'required',
  });
}

type Registered = Omit<NewPasskey, 'passkeyId' | 'personId' | 'name'>;

/** @throws {Error} describing what is wrong with the browser's response, for the log */
export async function readRegistration(
  party: RelyingParty,
  token: string,
  { id, clientDataJSON, attestationObject, transports }: Static<typeof Attestation>,
): Promise<Registered> {
  const { verifyRegistrationResponse } = await webAuthn();
  const { verified, registrationInfo } = await verifyRegistrationResponse({
    response: {
      id,
      rawId: id,
      type: 'public-key',
      response: { clientDataJSON, attestationObject },
      clientExtensionResults: {},
    },
    expectedChallenge: challengeOf(token).toString('base64url'),
    expectedOrigin: party.origin,
    expectedRPID: party.id,
    requireUserVerification: true,
  });
  if (!verified) throw new Error('the attestation is not valid');
  const { credential } = registrationInfo;
  return {
    credentialId: Buffer.from(credential.id, 'base64url'),
    publicKey: Buffer.from(credential.publicKey),
    counter: credential.counter,
    transports,
  };
}

/**
 * @returns the authenticator's counter
 * @throws {Error} describing what is wrong with the browser's response, for the log
 */
export async function readAssertion(
  party: RelyingParty,
  token: string,
  { personId, publicKey, counter }: Credential,
  { id, clientDataJSON, authenticatorData, signature, userHandle }: Static<typeof Assertion>,
): Promise<number> {
  // The account is that of the stored credential; the one in the response must match it.
  if (Buffer.from(userHandle, 'base64url').toString() !== personId) {
    throw new Error('the passkey belongs to another account');
  }
  const { verifyAuthenticationResponse } = await webAuthn();
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response: {
      id,
      rawId: id,
      type: 'public-key',
      response: { clientDataJSON, authenticatorData, signature, userHandle },
      clientExtensionResults: {},
    },
    expectedChallenge: challengeOf(token).toString('base64url'),
    expectedOrigin: party.origin,
    expectedRPID: party.id,
    credential: { id, publicKey: new Uint8Array(publicKey), counter },
    requireUserVerification: true,
  });
  if (!verified) throw new Error('the signature is wrong');
  return authenticationInfo.newCounter;
}
