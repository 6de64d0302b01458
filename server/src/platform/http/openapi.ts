import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifySchema, RouteOptions } from 'fastify';
import type { Access } from './principal.ts';
import type { HttpApp } from './app.ts';

/**
 * `/openapi.json` and `/docs`, made from the schemas of the routes. Everything is served from
 * here: the pages ask no other host for anything.
 */
export async function describeApi(
  app: HttpApp,
  options: { publicUrl: string; version: string },
): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Reelfeed',
        version: options.version,
        description:
          'Short-form video feed service. Secret keys may call every route; publishable keys ' +
          'only those marked so. Answers are `{ data, meta }`, failures `{ error, meta }`.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: options.publicUrl }],
      components: {
        securitySchemes: {
          secretKey: { type: 'http', scheme: 'bearer', description: 'A key `rf_sk_…`.' },
          publishableKey: { type: 'http', scheme: 'bearer', description: 'A key `rf_pk_…`.' },
        },
      },
    },
    transform: ({ schema, url, route }) => ({ schema: describeRoute(schema, route), url }),
  });
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: true,
    // On a plain http address, browsers would look for the page's scripts by https.
    transformStaticCSP: (policy) => policy.replace(/\s*upgrade-insecure-requests;?/, ''),
    uiConfig: { deepLinking: true, tryItOutEnabled: true, persistAuthorization: false },
    theme: {
      title: 'Reelfeed API',
      // The bar asks for the address of another description.
      css: [{ filename: 'reelfeed.css', content: '.swagger-ui .topbar { display: none; }' }],
    },
  });
  app.get('/openapi.json', { schema: { hide: true }, config: { access: 'public' } }, () =>
    app.swagger(),
  );
}

/** What the description says of a route beside its schemas: keys, retries, streams. */
function describeRoute(schema: FastifySchema, { method, config }: RouteOptions): FastifySchema {
  const methods = [method].flat();
  const mutates = methods.some((one) => ['POST', 'PUT', 'PATCH', 'DELETE'].includes(one));
  const { access = 'public', describedBody, describedStream } = config ?? {};
  return {
    ...schema,
    security: securityOf[access],
    ...(methods.every((one) => one === 'HEAD') && { hide: true }),
    ...(describedBody !== undefined && { body: { content: describedBody } }),
    ...(describedStream !== undefined && { response: withStream(schema, describedStream) }),
    ...(access !== 'public' && mutates && { headers: withIdempotencyKey(schema.headers) }),
  };
}

const securityOf: Record<Access, Record<string, string[]>[]> = {
  secret: [{ secretKey: [] }],
  publishable: [{ publishableKey: [] }, { secretKey: [] }],
  public: [],
};

function withStream({ response }: FastifySchema, content: Record<string, { schema: object }>) {
  return { 200: { description: 'The stream.', content }, ...(response as object | undefined) };
}

function withIdempotencyKey(headers: unknown): unknown {
  const { properties = {} } = (headers ?? {}) as { properties?: Record<string, unknown> };
  return {
    type: 'object',
    properties: {
      ...properties,
      'Idempotency-Key': {
        type: 'string',
        maxLength: 255,
        description:
          'With a secret key, makes a retry safe: for 24 hours, a repeat gets the first answer again.',
      },
    },
  };
}
