/**
 * A self-signed certificate for tests, made on the spot: no key lies in the repository, nothing
 * expires, and no tool is needed. X.509 (RFC 5280) in just enough DER.
 */
import { generateKeyPairSync, sign } from 'node:crypto';
import { isIP } from 'node:net';

export type TestCertificate = { readonly key: string; readonly cert: string };

/** For the given DNS names and IPv4 addresses. `expired` makes one that ended years ago. */
export function createTestCertificate(
  names: readonly string[],
  { expired = false } = {},
): TestCertificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const ecdsaWithSha256 = der(0x30, objectId(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02));
  const commonName = der(0x30, objectId(0x55, 0x04, 0x03), der(0x0c, Buffer.from('test')));
  const name = der(0x30, der(0x31, commonName));
  const end = expired ? '20010101000000Z' : '21000101000000Z';
  const validity = der(0x30, time('20000101000000Z'), time(end));
  const altNames = names.map((one) =>
    isIP(one) === 4
      ? der(0x87, Buffer.from(one.split('.').map(Number)))
      : der(0x82, Buffer.from(one)),
  );
  const extension = der(0x30, objectId(0x55, 0x1d, 0x11), der(0x04, der(0x30, ...altNames)));
  const body = der(
    0x30,
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    ecdsaWithSha256,
    name,
    validity,
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, der(0x30, extension)),
  );
  const signature = der(0x03, Buffer.from([0]), sign('sha256', body, privateKey));
  const certificate = der(0x30, body, ecdsaWithSha256, signature).toString('base64');
  const lines = certificate.replaceAll(/.{64}/g, '$&\n');
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
  };
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
