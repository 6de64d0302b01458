import type { FastifyReply, FastifyRequest } from 'fastify';
import { createHash } from 'node:crypto';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

/** A file that was built ahead of time, with its compressed forms. */
export type BuiltFile = {
  readonly contentType: string;
  readonly body: Buffer;
  readonly brotli: Buffer;
  readonly gzip: Buffer;
};

/**
 * Sends the smallest form that the client accepts. The caller decides how long it may be cached.
 */
export function sendBuiltFile(
  request: FastifyRequest,
  reply: FastifyReply,
  file: BuiltFile,
): FastifyReply {
  const encoding = preferredEncoding(request.headers['accept-encoding'] ?? '');
  if (encoding !== null) reply.header('content-encoding', encoding);
  const body = encoding === 'br' ? file.brotli : encoding === 'gzip' ? file.gzip : file.body;
  return reply
    .header('vary', 'Accept-Encoding')
    .header('x-content-type-options', 'nosniff')
    .type(file.contentType)
    .send(body);
}

/**
 * The encoding with the highest weight in an `Accept-Encoding` header, brotli on a tie, or null for
 * no encoding. A client that refuses even uncompressed bytes still gets them (RFC 9110, section
 * 12.5.3).
 */
function preferredEncoding(header: string): 'br' | 'gzip' | null {
  const brotli = weightOf(header, 'br');
  const gzip = weightOf(header, 'gzip');
  if (brotli === 0 && gzip === 0) return null;
  return brotli >= gzip ? 'br' : 'gzip';
}

/**
 * A weight from 0 (not acceptable) to 1. An encoding that the header does not name has the weight
 * of `*`.
 */
function weightOf(header: string, encoding: string): number {
  let ofOthers = 0;
  for (const entry of header.toLowerCase().split(',')) {
    const [name = '', ...parameters] = entry.split(';').map((part) => part.trim());
    const weight = parameters.find((parameter) => parameter.startsWith('q='));
    const value = weight === undefined ? 1 : Number(weight.slice(2)) || 0;
    if (name === encoding) return value;
    if (name === '*') ofOthers = value;
  }
  return ofOthers;
}

/** Compresses a file on first use, at a level that takes only milliseconds. */
export function compressedOnce(contentType: string, body: Buffer): BuiltFile {
  let brotli: Buffer | undefined;
  let gzip: Buffer | undefined;
  const params = { [constants.BROTLI_PARAM_QUALITY]: 6 };
  return {
    contentType,
    body,
    get brotli() {
      brotli ??= brotliCompressSync(body, { params });
      return brotli;
    },
    get gzip() {
      gzip ??= gzipSync(body);
      return gzip;
    },
  };
}

/** A strong entity tag of these bytes, including its quotes. */
export function etagOf(body: Buffer | string): string {
  return `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
}
