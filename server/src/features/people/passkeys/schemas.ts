/** Schemas of passkeys: requests by browsers, and answers. */
import { Type } from 'typebox';
import { Closed, Nullable, Timestamp } from '../../../platform/http/schemas.ts';

const bytes = (maxLength: number) =>
  Type.String({ minLength: 1, maxLength, pattern: String.raw`^[\w-]+$` });

/** Ids of credentials have at most 1,023 bytes (WebAuthn, section 4). */
const credentialId = bytes(1_364);

export const PasskeyName = Type.String({ minLength: 1, maxLength: 100, examples: ['Laptop'] });

/** Bytes are base64url. */
export const Attestation = Closed({
  id: credentialId,
  clientDataJSON: bytes(8_192),
  attestationObject: bytes(65_536),
  transports: Type.Array(Type.String({ maxLength: 32 }), { maxItems: 10 }),
});

export const Assertion = Closed({
  id: credentialId,
  clientDataJSON: bytes(8_192),
  authenticatorData: bytes(8_192),
  signature: bytes(8_192),
  userHandle: bytes(128),
});

export const Passkey = Type.Object({
  id: Type.String(),
  name: PasskeyName,
  createdAt: Timestamp,
  lastUsedAt: Nullable(Timestamp),
});

/** Options of `navigator.credentials`, as the library makes them. */
export const CeremonyOptions = Type.Object({}, { additionalProperties: true });
