/** A certificate and its private key, read from two PEM files. */
import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureContext, type SecureContext } from 'node:tls';
import { ConfigurationError } from '../settings/settings.ts';

export type CertificateFiles = {
  /** The certificate of this host, followed by the intermediate ones. */
  readonly certificate: string;
  readonly key: string;
};

export type CertificatePair = {
  readonly context: SecureContext;
  /** Changes whenever the certificate changes. */
  readonly fingerprint: string;
  readonly expiresAt: Date;
  /** The names that the certificate covers, such as `DNS:feed.example.com`. */
  readonly names: string;
};

export type TlsSettings = { readonly tlsCert: string | null; readonly tlsKey: string | null };

/**
 * @returns null without TLS
 * @throws ConfigurationError if only one of the two is set
 */
export function certificateFiles({ tlsCert, tlsKey }: TlsSettings): CertificateFiles | null {
  if (tlsCert === null && tlsKey === null) return null;
  if (tlsCert !== null && tlsKey !== null) return { certificate: tlsCert, key: tlsKey };
  throw new ConfigurationError(
    'REELFEED_TLS_CERT and REELFEED_TLS_KEY belong together: set both, or neither.',
  );
}

/** The contents of the two files. */
export type CertificateText = { readonly certificate: string; readonly key: string };

/** @throws ConfigurationError naming the file that can't be read */
export async function readCertificateFiles(files: CertificateFiles): Promise<CertificateText> {
  const read = (file: string, variable: string) =>
    readFile(file, 'utf8').catch((error: unknown) => {
      throw new ConfigurationError(`${variable}: cannot read ${file}: ${(error as Error).message}`);
    });
  return {
    certificate: await read(files.certificate, 'REELFEED_TLS_CERT'),
    key: await read(files.key, 'REELFEED_TLS_KEY'),
  };
}

/**
 * Checks that the two match and are usable at `now`.
 *
 * @throws ConfigurationError with one sentence about the problem
 */
export function parseCertificatePair(
  { certificate, key }: CertificateText,
  files: CertificateFiles,
  now: Date,
): CertificatePair {
  const leaf = parseCertificate(certificate, files.certificate);
  if (!leaf.checkPrivateKey(parseKey(key, files.key))) {
    throw new ConfigurationError(
      `REELFEED_TLS_KEY: ${files.key} is not the key of the first certificate in ${files.certificate}.`,
    );
  }
  if (leaf.validToDate <= now) {
    throw new ConfigurationError(
      `REELFEED_TLS_CERT: the certificate in ${files.certificate} expired on ${leaf.validToDate.toISOString()}.`,
    );
  }
  return {
    context: createContext({ certificate, key }, files.certificate),
    fingerprint: leaf.fingerprint256,
    expiresAt: leaf.validToDate,
    names: leaf.subjectAltName ?? leaf.subject,
  };
}

function parseCertificate(pem: string, file: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch (error) {
    throw new ConfigurationError(`REELFEED_TLS_CERT: ${file} contains no PEM certificate.`, {
      cause: error,
    });
  }
}

function parseKey(pem: string, file: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch (error) {
    throw new ConfigurationError(
      `REELFEED_TLS_KEY: ${file} contains no PEM private key that can be read without a passphrase.`,
      { cause: error },
    );
  }
}

/** Detects a key that is too short, or a broken intermediate certificate. */
function createContext({ certificate, key }: CertificateText, file: string): SecureContext {
  try {
    return createSecureContext({ cert: certificate, key, minVersion: 'TLSv1.2' });
  } catch (error) {
    const reason = (error as Error).message;
    throw new ConfigurationError(`REELFEED_TLS_CERT: ${file} cannot be used: ${reason}`, {
      cause: error,
    });
  }
}
