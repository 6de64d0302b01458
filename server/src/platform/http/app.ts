import type { FastifyBaseLogger, FastifyInstance, FastifyTypeProvider } from 'fastify';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Static, TSchema } from 'typebox';

/** Lets a route's TypeBox schemas type its handler. */
export interface TypeBoxTypeProvider extends FastifyTypeProvider {
  validator: this['schema'] extends TSchema ? Static<this['schema']> : unknown;
  serializer: unknown;
}

/** What features add their routes to; `server.ts` makes it. */
export type HttpApp = FastifyInstance<
  Server,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;
