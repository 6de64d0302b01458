import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * Leads to the one address of a page. It is relative, so that it also holds behind a proxy that serves
 * the service below a path, and it keeps the query.
 */
export function redirectTo(path: string) {
  return (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const queryAt = request.url.indexOf('?');
    return reply.redirect(queryAt < 0 ? path : path + request.url.slice(queryAt), 308);
  };
}
