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

/** Sends the smallest form that the client takes. The caller says how long it may be cached. */
export function sendBuiltFile(
  request: FastifyRequest,
  reply: FastifyReply,
  file: BuiltFile,
): FastifyReply {
  const accepted = request.headers['accept-encoding'] ?? '';
  const encoding = accepted.includes('br') ? 'br' : accepted.includes('gzip') ? 'gzip' : null;
  if (encoding !== null) reply.header('content-encoding', encoding);
  const body = encoding === 'br' ? file.brotli : encoding === 'gzip' ? file.gzip : file.body;
  return reply
    .header('vary', 'Accept-Encoding')
    .header('x-content-type-options', 'nosniff')
    .type(file.contentType)
    .send(body);
}

/** Compresses a file when it is first asked for, at a level that takes milliseconds. */
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

/** A strong entity tag of these bytes, with its quotes. */
export function etagOf(body: Buffer | string): string {
  return `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
}
