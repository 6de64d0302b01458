import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { HttpApp } from './server.ts';

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
    transform: ({ schema, url, route }) => {
      const access = route.config?.access;
      const security =
        access === 'secret'
          ? [{ secretKey: [] }]
          : access === 'publishable'
            ? [{ publishableKey: [] }, { secretKey: [] }]
            : [];
      const { method } = route;
      const isHead = [method].flat().every((one) => one === 'HEAD');
      return { schema: { ...schema, security, ...(isHead ? { hide: true } : {}) }, url };
    },
  });
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: true,
    uiConfig: { deepLinking: true, tryItOutEnabled: true, persistAuthorization: false },
    theme: { title: 'Reelfeed API' },
  });
  app.get('/openapi.json', { schema: { hide: true }, config: { access: 'public' } }, () =>
    app.swagger(),
  );
}
