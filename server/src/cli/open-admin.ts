/** The client of a running service, for commands that work through its API. */
import { readFileSync } from 'node:fs';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { createAdmin, ReelfeedError, type Admin } from '@reelfeed/client/server';
import { UsageError, type CommandInput } from './command.ts';

/** The URL of the service, from REELFEED_PUBLIC_URL or PORT. */
export function serviceUrl({ env }: CommandInput): string {
  const scheme = env['REELFEED_TLS_CERT'] === undefined ? 'http' : 'https';
  return env['REELFEED_PUBLIC_URL'] ?? `${scheme}://localhost:${env['PORT'] ?? 4000}`;
}

/**
 * Makes requests of this process trust the certificate of the service on this machine, which may be
 * self-signed or signed by a private authority.
 *
 * @throws UsageError if the certificate file can't be read
 */
export function trustOwnCertificate({ env }: CommandInput): void {
  const file = env['REELFEED_TLS_CERT'];
  if (file === undefined) return;
  let pem: string;
  try {
    pem = readFileSync(file, 'utf8');
  } catch (error) {
    throw new UsageError(`REELFEED_TLS_CERT: cannot read ${file}: ${(error as Error).message}`);
  }
  setDefaultCACertificates([...getCACertificates('default'), pem]);
}

/** A message that nothing answers at this URL, and what to do about it. */
export function noServiceAt(input: CommandInput): string {
  const url = serviceUrl(input);
  return `Cannot reach the service at ${url}. Start it with \`npm start\`, or set REELFEED_PUBLIC_URL to its address.`;
}

/**
 * Turns an error of the client into a sentence for the operator; returns other errors unchanged.
 */
export function explainRequest(input: CommandInput, error: unknown): unknown {
  if (!(error instanceof ReelfeedError)) return error;
  return new UsageError(error.status === null ? noServiceAt(input) : error.message);
}

/** @throws UsageError with `usage` if a setting is missing or invalid */
export function openAdmin(input: CommandInput, usage: string): Admin {
  const secretKey = input.env['REELFEED_SECRET_KEY'];
  if (secretKey === undefined) throw new UsageError(`REELFEED_SECRET_KEY is not set.\n\n${usage}`);
  trustOwnCertificate(input);
  try {
    return createAdmin({ baseUrl: serviceUrl(input), secretKey, timeoutMs: 60_000 });
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\n\n${usage}`);
  }
}
