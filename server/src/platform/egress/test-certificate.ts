/**
 * Certificates for tests, made on the spot: no key lies in the repository, nothing expires, and no
 * tool is needed. X.509 (RFC 5280) in just enough DER.
 */
import { generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';
import { isIP } from 'node:net';

export type TestCertificate = { readonly key: string; readonly cert: string };

/** An authority that signs certificates of servers. Trust `cert`. */
export type TestAuthority = {
  readonly cert: string;
  issue(names: readonly string[], options?: { expired?: boolean }): TestCertificate;
};

type Issuer = { readonly name: Buffer; readonly privateKey: KeyObject };

/** Self-signed, for the given DNS names and IPv4 addresses. `expired` makes one that ended years ago. */
export function createTestCertificate(
  names: readonly string[],
  { expired = false } = {},
): TestCertificate {
  return createCertificate({ names, expired, issuer: null });
}

export function createTestAuthority(): TestAuthority {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = distinguishedName(`authority ${randomBytes(4).toString('hex')}`);
  const issuer = { name, privateKey };
  // Basic constraints: this is an authority. Without them no verifier takes what it signs.
  const constraints = extension(
    [0x55, 0x1d, 0x13],
    der(0x30, der(0x01, Buffer.from([0xff]))),
    true,
  );
  const cert = encode({
    subject: name,
    publicKey,
    issuer,
    expired: false,
    extensions: constraints,
  });
  return {
    cert,
    issue: (names, { expired = false } = {}) => createCertificate({ names, expired, issuer }),
  };
}

function createCertificate(options: {
  names: readonly string[];
  expired: boolean;
  issuer: Issuer | null;
}): TestCertificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const subject = distinguishedName('test');
  const issuer = options.issuer ?? { name: subject, privateKey };
  const altNames = options.names.map((one) =>
    isIP(one) === 4
      ? der(0x87, Buffer.from(one.split('.').map(Number)))
      : der(0x82, Buffer.from(one)),
  );
  const extensions = extension([0x55, 0x1d, 0x11], der(0x30, ...altNames), false);
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: encode({ subject, publicKey, issuer, expired: options.expired, extensions }),
  };
}

function encode(parts: {
  subject: Buffer;
  publicKey: KeyObject;
  issuer: Issuer;
  expired: boolean;
  extensions: Buffer;
}): string {
  const { subject, publicKey, issuer, expired, extensions } = parts;
  const ecdsaWithSha256 = der(0x30, objectId(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02));
  const end = expired ? '20010101000000Z' : '21000101000000Z';
  const validity = der(0x30, time('20000101000000Z'), time(end));
  // A positive number, different for each certificate of an issuer.
  const serial = Buffer.concat([Buffer.from([1]), randomBytes(7)]);
  const body = der(
    0x30,
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, serial),
    ecdsaWithSha256,
    issuer.name,
    validity,
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, der(0x30, extensions)),
  );
  const signature = der(0x03, Buffer.from([0]), sign('sha256', body, issuer.privateKey));
  const certificate = der(0x30, body, ecdsaWithSha256, signature).toString('base64');
  const lines = certificate.replaceAll(/.{64}/g, '$&\n');
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
}

function distinguishedName(commonName: string): Buffer {
  const attribute = der(0x30, objectId(0x55, 0x04, 0x03), der(0x0c, Buffer.from(commonName)));
  return der(0x30, der(0x31, attribute));
}

function extension(id: readonly number[], value: Buffer, isCritical: boolean): Buffer {
  const critical = isCritical ? [der(0x01, Buffer.from([0xff]))] : [];
  return der(0x30, objectId(...id), ...critical, der(0x04, value));
}

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size =
    length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

function objectId(...bytes: readonly number[]): Buffer {
  return der(0x06, Buffer.from(bytes));
}

function time(text: string): Buffer {
  return der(0x18, Buffer.from(text));
}
