/**
 * Certificates for tests, generated on demand: the repository contains no keys, nothing expires,
 * and no tool is needed.
 */
import 'reflect-metadata'; // The library's container needs it.
import { webcrypto } from 'node:crypto';
import { isIP } from 'node:net';
import {
  BasicConstraintsExtension,
  cryptoProvider,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
  type X509Certificate,
} from '@peculiar/x509';

cryptoProvider.set(webcrypto as Crypto);

export type TestCertificate = { readonly key: string; readonly cert: string };

/** An authority that signs server certificates. Trust `cert`. */
export type TestAuthority = {
  readonly cert: string;
  issue(names: readonly string[], options?: { expired?: boolean }): Promise<TestCertificate>;
};

type Issuer = { readonly certificate: X509Certificate; readonly keys: CryptoKeyPair };

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

/**
 * A self-signed certificate for the given DNS names and IP addresses. `expired` creates one that
 * expired years ago.
 */
export function createTestCertificate(
  names: readonly string[],
  options: { expired?: boolean } = {},
): Promise<TestCertificate> {
  return createCertificate(names, options, null);
}

export async function createTestAuthority(): Promise<TestAuthority> {
  const keys = await generateKeys();
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: `CN=authority ${crypto.randomUUID()}`,
    keys,
    ...validity(false),
    signingAlgorithm: algorithm,
    extensions: [new BasicConstraintsExtension(true, undefined, true)],
  });
  const issuer = { certificate, keys };
  return {
    cert: certificate.toString('pem'),
    issue: (names, options = {}) => createCertificate(names, options, issuer),
  };
}

async function createCertificate(
  names: readonly string[],
  { expired = false }: { expired?: boolean },
  issuer: Issuer | null,
): Promise<TestCertificate> {
  const keys = await generateKeys();
  const subject = 'CN=test';
  const certificate = await X509CertificateGenerator.create({
    subject,
    issuer: issuer?.certificate.subject ?? subject,
    publicKey: keys.publicKey,
    signingKey: (issuer?.keys ?? keys).privateKey,
    signingAlgorithm: algorithm,
    ...validity(expired),
    extensions: [
      new SubjectAlternativeNameExtension(
        names.map((value) => ({
          type: isIP(value) === 0 ? ('dns' as const) : ('ip' as const),
          value,
        })),
      ),
    ],
  });
  const der = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey);
  const lines =
    Buffer.from(der)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return {
    key: `-----BEGIN PRIVATE KEY-----\n${lines.join('\n')}\n-----END PRIVATE KEY-----\n`,
    cert: certificate.toString('pem'),
  };
}

async function generateKeys(): Promise<CryptoKeyPair> {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  return keys as CryptoKeyPair;
}

function validity(expired: boolean): { notBefore: Date; notAfter: Date } {
  return {
    notBefore: new Date('2000-01-01T00:00:00Z'),
    notAfter: new Date(expired ? '2001-01-01T00:00:00Z' : '2049-01-01T00:00:00Z'),
  };
}
