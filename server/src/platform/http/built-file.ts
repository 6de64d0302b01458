import type { FastifyReply, FastifyRequest } from 'fastify';

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
