import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * Redirects to the canonical path of a page. The redirect is relative, so that it also works behind
 * a proxy that serves the service under a path prefix. It keeps the query.
 */
export function redirectTo(path: string) {
  return (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const queryAt = request.url.indexOf('?');
    return reply.redirect(queryAt < 0 ? path : path + request.url.slice(queryAt), 308);
  };
}
