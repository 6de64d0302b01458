import swagger from '@fastify/swagger';
import type { FastifySchema, RouteOptions } from 'fastify';
import { compressedOnce, etagOf, sendBuiltFile, type BuiltFile } from './built-file.ts';
import { isNotModified } from './conditional.ts';
import { addErrorPages } from './error-pages.ts';
import type { ErrorKind } from './errors.ts';
import { nameSchemas, type DescriptionTexts } from './named-schemas.ts';
import type { Access } from './principal.ts';
import { addGuides } from './guides.ts';
import { addReference } from './reference.ts';
import type { HttpApp } from './app.ts';
import type { LowestRole } from './roles.ts';
import type { ScopeOf } from './scopes.ts';
import { maxContainers, maxDepth, maxKeys } from './json-shape.ts';
import { ErrorAnswer, errorAnswer } from './schemas.ts';

/** `/openapi.json` and `/docs`, generated from the schemas of the routes. */
export async function describeApi(
  app: HttpApp,
  options: {
    publicUrl: string;
    version: string;
    errors: readonly ErrorKind[];
    /** Requests that the service sends to others. */
    outgoing: Readonly<Record<string, object>>;
    texts: DescriptionTexts;
    scopeOf: ScopeOf;
    lowestRole: LowestRole;
  },
): Promise<void> {
  const codes = options.errors.map(({ code }) => code);
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Reelfeed',
        version: options.version,
        description:
          'Short-form video feed service. Secret keys may call every route; publishable keys may call ' +
          'only those marked accordingly. Responses are `{ data, meta }`, errors `{ error, meta }`; each ' +
          `error code has [its own page](${options.publicUrl}/docs/errors). A JSON body can have at ` +
          `most 1 MiB, ${maxDepth} levels, ${maxKeys} keys, and ${maxContainers} objects and lists. ` +
          'Send integers beyond 2^53 as strings: numbers that a double cannot represent are rejected.',
        contact: { name: 'Reelfeed', url: options.publicUrl },
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: serverUrl(options.publicUrl) }],
      externalDocs: { url: `${options.publicUrl}/docs/errors`, description: 'Error codes' },
      webhooks: options.outgoing,
      components: {
        securitySchemes: {
          secretKey: { type: 'http', scheme: 'bearer', description: 'A key `rf_sk_…`.' },
          publishableKey: { type: 'http', scheme: 'bearer', description: 'A key `rf_pk_…`.' },
        },
      },
    },
    transform: ({ schema, url, route }) => ({
      schema: withErrorCodes(describeRoute(schema, route, options), codes),
      url,
    }),
  });
  addDescription(app, options.errors, options.texts);
  addGuides(app);
  addReference(app, options.publicUrl);
  addErrorPages(app, options.errors);
}

/**
 * Relative to the description for a local service, whose address would be wrong for everyone else.
 */
function serverUrl(publicUrl: string): string {
  const { hostname, pathname } = new URL(publicUrl);
  return ['localhost', '127.0.0.1', '[::1]'].includes(hostname) ? pathname : publicUrl;
}

/**
 * The description does not change while the process runs, so it is generated and compressed once.
 */
function addDescription(app: HttpApp, errors: readonly ErrorKind[], texts: DescriptionTexts): void {
  let cached: { file: BuiltFile; etag: string } | undefined;
  const describe = () => {
    if (cached !== undefined) return cached;
    const body = Buffer.from(JSON.stringify(nameSchemas(app.swagger(), errors, texts)));
    cached = {
      file: compressedOnce('application/json; charset=utf-8', body),
      etag: etagOf(body),
    };
    return cached;
  };
  app.get(
    '/openapi.json',
    { schema: { hide: true }, config: { access: 'public' } },
    (request, reply) => {
      const { file, etag } = describe();
      reply.header('etag', etag).header('cache-control', 'no-cache');
      if (isNotModified(request.headers, { etag })) return reply.status(304).send();
      return sendBuiltFile(request, reply, file);
    },
  );
}

/** Adds what the schemas of a route do not describe: keys, retries, streams. */
function describeRoute(
  schema: FastifySchema,
  { method, url, config }: RouteOptions,
  { scopeOf, lowestRole }: { scopeOf: ScopeOf; lowestRole: LowestRole },
): FastifySchema {
  const methods = [method].flat();
  const mutates = methods.some((one) => ['POST', 'PUT', 'PATCH', 'DELETE'].includes(one));
  const { access = 'public', describedBody, describedStream, role } = config ?? {};
  const scope = config?.scope ?? scopeOf(methods[0] ?? '', url);
  return {
    ...schema,
    security: securityOf[access],
    ...(access !== 'public' && {
      'x-scope': scope,
      'x-lowest-role': lowestRole({ scope, role }),
    }),
    ...(methods.every((one) => one === 'HEAD') && { hide: true }),
    ...(describedBody !== undefined && { body: { content: describedBody } }),
    ...(describedStream !== undefined && { response: withStream(schema, describedStream) }),
    ...(access !== 'public' && mutates && { headers: withIdempotencyKey(schema.headers) }),
  };
}

/** Adds the error codes to the failure schema, because features declare their own codes. */
function withErrorCodes(schema: FastifySchema, codes: readonly string[]): FastifySchema {
  const answers = Object.entries((schema.response ?? {}) as Record<string, unknown>);
  if (answers.length === 0) return schema;
  const failure = errorAnswer(codes);
  const described = answers.map(([status, answer]) => [
    status,
    answer === ErrorAnswer ? failure : answer,
  ]);
  return { ...schema, response: Object.fromEntries(described) };
}

const securityOf: Record<Access, Record<string, string[]>[]> = {
  secret: [{ secretKey: [] }],
  publishable: [{ publishableKey: [] }, { secretKey: [] }],
  public: [],
  person: [],
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
          'With a secret key, makes retries safe: for 24 hours, a repeated request gets the original response.',
      },
    },
  };
}
