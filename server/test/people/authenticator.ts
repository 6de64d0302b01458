/**
 * A software authenticator that implements the parts of WebAuthn that the service checks: ES256
 * credentials without attestation. Tests can make it misbehave.
 */
import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';
import type { Static } from 'typebox';
import type { Assertion, Attestation } from '../../src/features/people/passkeys/schemas.ts';

export type Asked = { challenge: string; rpId: string; origin: string };

const flags = { present: 0x01, verified: 0x04, hasCredential: 0x40 };
const base64url = (bytes: Buffer): string => bytes.toString('base64url');
const sha256 = (bytes: Buffer | string): Buffer => createHash('sha256').update(bytes).digest();

export class Authenticator {
  readonly id = randomBytes(32);
  readonly #key: KeyObject;
  readonly #publicKey: Buffer;
  counter = 1;
  isVerified = true;
  userHandle = '';

  constructor() {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
    this.#key = privateKey;
    // A COSE key (RFC 9053): EC2, ES256, P-256, x, y.
    this.#publicKey = Buffer.concat([
      Buffer.from('a5010203262001215820', 'hex'),
      Buffer.from(x, 'base64url'),
      Buffer.from('225820', 'hex'),
      Buffer.from(y, 'base64url'),
    ]);
  }

  /** Creates an account's credential and stores its user handle. */
  make(asked: Asked, userHandle: string): Static<typeof Attestation> {
    this.userHandle = userHandle;
    const length = Buffer.alloc(2);
    length.writeUInt16BE(this.id.length);
    const credential = Buffer.concat([Buffer.alloc(16), length, this.id, this.#publicKey]);
    const data = Buffer.concat([this.#data(asked.rpId, flags.hasCredential), credential]);
    // CBOR: { fmt: "none", attStmt: {}, authData: bytes }
    const object = Buffer.concat([
      Buffer.from('a363666d74646e6f6e656761747453746d74a068617574684461746158', 'hex'),
      Buffer.from([data.length]),
      data,
    ]);
    return {
      id: base64url(this.id),
      clientDataJSON: base64url(clientData('webauthn.create', asked)),
      attestationObject: base64url(object),
      transports: ['internal'],
    };
  }

  /** Signs in and increments the counter. */
  sign(asked: Asked): Static<typeof Assertion> {
    this.counter += 1;
    const data = this.#data(asked.rpId, 0);
    const client = clientData('webauthn.get', asked);
    const signature = sign('sha256', Buffer.concat([data, sha256(client)]), this.#key);
    return {
      id: base64url(this.id),
      clientDataJSON: base64url(client),
      authenticatorData: base64url(data),
      signature: base64url(signature),
      userHandle: this.userHandle,
    };
  }

  #data(rpId: string, others: number): Buffer {
    const head = Buffer.alloc(5);
    head[0] = flags.present | (this.isVerified ? flags.verified : 0) | others;
    head.writeUInt32BE(this.counter, 1);
    return Buffer.concat([sha256(rpId), head]);
  }
}

function clientData(type: string, { challenge, origin }: Asked): Buffer {
  return Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }));
}
