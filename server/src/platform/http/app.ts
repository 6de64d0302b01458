import type { FastifyBaseLogger, FastifyInstance, FastifyTypeProvider } from 'fastify';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Static, TSchema } from 'typebox';

/** Derives the types of a route's handler from its TypeBox schemas. */
export interface TypeBoxTypeProvider extends FastifyTypeProvider {
  validator: this['schema'] extends TSchema ? Static<this['schema']> : unknown;
  serializer: unknown;
}

/** The app to which features add their routes; `server.ts` creates it. */
export type HttpApp = FastifyInstance<
  Server,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;
