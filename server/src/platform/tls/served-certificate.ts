/**
 * The certificate that this process presents to clients. Its files are reread every two seconds, so
 * a new pair is found no matter how it was installed: written in place, renamed, or by changing a
 * symbolic link.
 *
 * 1. An unusable pair never replaces a usable one. The problem is logged once for each content of
 *    the files.
 * 2. Renewal replaces two files, one after the other. Contents are only checked once they have been
 *    read twice in a row, so a renewal that takes less than two seconds is never checked halfway.
 * 3. Open connections keep the certificate that they started with.
 */
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Logger } from 'pino';
import { background, every } from '../async/lifecycle.ts';
import { ConfigurationError } from '../settings/settings.ts';
import {
  certificateFiles,
  parseCertificatePair,
  readCertificateFiles,
  type CertificateFiles,
  type CertificatePair,
  type TlsSettings,
} from './certificate-pair.ts';
import { ServedSocket } from './served-socket.ts';

const readAgainMs = 2_000;

export class ServedCertificate implements AsyncDisposable {
  readonly #files: CertificateFiles;
  readonly #log: Logger;
  readonly #reading: AsyncDisposable;
  #pair: CertificatePair;
  /**
   * The contents last read and last checked, or the reason why there are none.
   */
  #read: string | null = null;
  #judged: string | null = null;

  private constructor(
    files: CertificateFiles,
    pair: CertificatePair,
    log: Logger,
    intervalMs: number,
  ) {
    this.#files = files;
    this.#pair = pair;
    this.#log = log;
    this.#reading = background('certificate', (signal) => this.#follow(intervalMs, signal), log);
  }

  /** @throws ConfigurationError with one sentence if the pair can't be used, or has expired */
  static async open(
    files: CertificateFiles,
    log: Logger,
    intervalMs = readAgainMs,
  ): Promise<ServedCertificate> {
    const pair = parseCertificatePair(await readCertificateFiles(files), files, new Date());
    return new ServedCertificate(files, pair, log, intervalMs);
  }

  get expiresAt(): Date {
    return this.#pair.expiresAt;
  }

  /** The server's side of TLS over a connection from which nothing has been read. */
  secure(socket: Socket): TLSSocket {
    // TLS reads and writes below this socket, and reports errors on the outer one.
    socket.on('error', () => undefined);
    return new ServedSocket(socket, {
      isServer: true,
      secureContext: this.#pair.context,
      ALPNProtocols: ['http/1.1'],
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#reading[Symbol.asyncDispose]();
  }

  async #follow(intervalMs: number, signal: AbortSignal): Promise<void> {
    await every(intervalMs, () => this.#readAgain(), signal);
  }

  async #readAgain(): Promise<void> {
    const read = await readCertificateFiles(this.#files).catch(onlyOurs);
    const isProblem = read instanceof ConfigurationError;
    const content = isProblem ? read.message : `${read.certificate}\n${read.key}`;
    const isStable = content === this.#read;
    this.#read = content;
    if (!isStable || content === this.#judged) return;
    this.#judged = content;
    try {
      if (isProblem) throw read;
      this.#replace(parseCertificatePair(read, this.#files, new Date()));
    } catch (error) {
      const problem = onlyOurs(error).message;
      this.#log.error({ problem }, 'new certificate rejected; the old one stays in use');
    }
  }

  #replace(pair: CertificatePair): void {
    const isNew = pair.fingerprint !== this.#pair.fingerprint;
    this.#pair = pair;
    if (!isNew) return;
    const { expiresAt, names } = pair;
    this.#log.warn({ expiresAt, names }, 'certificate replaced');
  }
}

function onlyOurs(error: unknown): ConfigurationError {
  if (error instanceof ConfigurationError) return error;
  throw error;
}

/**
 * Opens the certificate that the settings name; null if they name none.
 *
 * @throws ConfigurationError if one of the two files is missing, or the pair can't be used
 */
export async function openCertificate(
  settings: TlsSettings,
  log: Logger,
): Promise<ServedCertificate | null> {
  const files = certificateFiles(settings);
  return files === null ? null : ServedCertificate.open(files, log);
}
