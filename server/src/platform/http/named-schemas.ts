/**
 * Adapts the API description generated from the routes for other tools. Schemas with a title become
 * named ones, so that a generated client has a type `Content`; failures are listed by status, with
 * an example; every response lists its headers.
 */
import { errorDetailExample, type ErrorKind } from './errors.ts';

type Json = { [name: string]: unknown };
type Operation = Json & {
  operationId?: string;
  summary?: string;
  description?: string;
  tags?: string[];
  security?: unknown[];
  requestBody?: unknown;
  parameters?: { in: string }[];
  responses: Record<string, Json & { content?: Json; headers?: Json }>;
};

/** Texts and examples that accompany the schemas. */
export type DescriptionTexts = {
  /** By the name of the tag. */
  readonly tags: Readonly<Record<string, string>>;
  /** By operation id: the body of a request, and its response. */
  readonly examples: Readonly<Record<string, { body?: unknown; status: number; answer: unknown }>>;
};

export const noTexts: DescriptionTexts = { tags: {}, examples: {} };

/** Statuses that any route may return, each with its condition. */
const failures: Record<number, (operation: Operation) => boolean> = {
  400: () => true,
  401: ({ security = [] }) => security.length > 0,
  403: ({ security = [] }) => security.length > 0,
  404: ({ parameters = [] }) => parameters.some((parameter) => parameter.in === 'path'),
  408: ({ requestBody }) => requestBody !== undefined,
  409: ({ requestBody }) => requestBody !== undefined,
  413: ({ requestBody }) => requestBody !== undefined,
  415: ({ requestBody }) => requestBody !== undefined,
  422: ({ requestBody }) => requestBody !== undefined,
  429: ({ security = [] }) => security.length > 0,
  500: () => true,
  503: () => true,
};

/** @returns a copy of the description; the given one is not changed */
export function nameSchemas(
  description: object,
  errors: readonly ErrorKind[],
  texts: DescriptionTexts = noTexts,
): Json {
  const api = structuredClone(description) as Json;
  const schemas: Json = {};
  const paths = hoist(api['paths'], schemas) as Record<string, Record<string, Operation>>;
  const operations = Object.values(paths).flatMap((path) => Object.values(path));
  for (const operation of operations) {
    operation.description ??= `${operation.summary}.`;
    completeAnswers(operation);
    addExamples(operation, texts.examples[operation.operationId ?? '']);
  }
  const components = (api['components'] ?? {}) as Json;
  return {
    ...api,
    tags: [...new Set(operations.flatMap(({ tags = [] }) => tags))].map((name) => ({
      name,
      ...(texts.tags[name] !== undefined && { description: texts.tags[name] }),
    })),
    paths,
    webhooks: nameOutgoing(hoist(api['webhooks'] ?? {}, schemas)),
    components: {
      ...components,
      schemas: { ...(components['schemas'] as Json | undefined), ...schemas },
      headers: sharedHeaders,
      responses: failureAnswers(errors),
    },
  };
}

/** Requests that the service sends carry a signature instead of a key. */
function nameOutgoing(webhooks: unknown): Json {
  const named = Object.entries(webhooks as Record<string, Record<string, Operation>>);
  return Object.fromEntries(
    named.map(([kind, methods]) => [
      kind,
      Object.fromEntries(
        Object.entries(methods).map(([method, operation]) => {
          const id = (operation.operationId ?? kind).replaceAll(/[^A-Za-z0-9_-]/g, '_');
          return [method, { ...operation, operationId: id, security: [] }];
        }),
      ),
    ]),
  );
}

/** Moves schemas with a title to `schemas` and replaces them with references. */
function hoist(value: unknown, schemas: Json): unknown {
  if (Array.isArray(value)) return value.map((item) => hoist(item, schemas));
  if (typeof value !== 'object' || value === null) return value;
  const copy = Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, hoist(inner, schemas)]),
  );
  const { title } = copy;
  if (typeof title !== 'string' || copy['type'] !== 'object') return copy;
  schemas[title] ??= copy;
  return { $ref: `#/components/schemas/${title}` };
}

const header = (name: string) => ({ $ref: `#/components/headers/${name}` });

const sharedHeaders = {
  'X-Request-Id': {
    description: 'The id of the request, as in `meta.requestId`.',
    required: true,
    schema: { type: 'string', examples: ['req_01kabc5m8nfe8v8q1m2vr5t9zd'] },
  },
  'Retry-After': {
    description: 'Seconds to wait before the request is sent again.',
    schema: { type: 'integer', minimum: 0, examples: [2] },
  },
  'WWW-Authenticate': {
    description: 'How to authenticate.',
    schema: { type: 'string', examples: ['Bearer'] },
  },
};

function completeAnswers(operation: Operation): void {
  for (const answer of Object.values(operation.responses)) {
    answer.headers = { 'X-Request-Id': header('X-Request-Id'), ...answer.headers };
  }
  for (const [status, applies] of Object.entries(failures)) {
    if (applies(operation)) {
      operation.responses[status] ??= { $ref: `#/components/responses/${status}` };
    }
  }
}

function addExamples(operation: Operation, example?: DescriptionTexts['examples'][string]): void {
  if (example === undefined) return;
  const { requestBody, responses } = operation;
  const body = jsonOf(requestBody);
  if (body !== null && 'body' in example) body['example'] = example.body;
  const answer = jsonOf(responses[example.status]);
  if (answer !== null) answer['example'] = example.answer;
}

/** The JSON description of a body or a response; null if there is none. */
function jsonOf(described: unknown): Json | null {
  const { content } = (described ?? {}) as { content?: Record<string, Json> };
  return content?.['application/json'] ?? null;
}

/** One response for each status, with an example for each of its codes. */
function failureAnswers(errors: readonly ErrorKind[]): Json {
  const answers: Json = {};
  for (const status of Object.keys(failures).map(Number)) {
    const kinds = errors.filter((kind) => kind.status === status);
    const examples = kinds.map(({ code, message }) => {
      const error = { code, message, ...(status === 400 && { details: [errorDetailExample] }) };
      const value = { error, meta: { requestId: 'req_01kabc5m8nfe8v8q1m2vr5t9zd' } };
      return [code, { summary: message, value }];
    });
    answers[status] = {
      description: kinds.map(({ code, message }) => `\`${code}\`: ${message}`).join('\n\n'),
      headers: {
        'X-Request-Id': header('X-Request-Id'),
        ...([429, 503, 507].includes(status) && { 'Retry-After': header('Retry-After') }),
        ...(status === 401 && { 'WWW-Authenticate': header('WWW-Authenticate') }),
      },
      content: {
        'application/json': {
          schema: { $ref: '#/components/schemas/Error' },
          examples: Object.fromEntries(examples),
        },
      },
    };
  }
  return answers;
}
