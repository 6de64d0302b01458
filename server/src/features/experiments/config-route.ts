/** The configuration that clients load at startup: settings and flags for a viewer. */
import { Type } from 'typebox';
import type { HttpApp } from '../../platform/http/app.ts';
import { fieldError } from '../../platform/http/errors.ts';
import { principalOf } from '../../platform/http/principal.ts';
import { answers, Closed, OneOf } from '../../platform/http/schemas.ts';
import { maySpeakFor, type SignatureReader } from '../keys/keys.ts';
import type { Assignments } from './assignments/assignments.ts';

const id = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 200, description }));

export const ConfigQuery = Closed({
  userId: id('Identified user. Same as the header X-User-Id.'),
  deviceId: id('Device of the viewer. Same as the header X-Device-Id.'),
  country: Type.Optional(
    Type.String({ pattern: '^[A-Za-z]{2}$', description: 'ISO 3166-1 alpha-2.' }),
  ),
  device: Type.Optional(OneOf(['ios', 'android', 'web'] as const)),
  segments: Type.Optional(
    Type.String({
      maxLength: 4_000,
      description:
        "Comma-separated list of the viewer's segments. Same as the header X-User-Segments.",
    }),
  ),
});

const experiments = Type.Array(
  Type.Object({ experimentId: Type.String(), variantId: Type.String() }),
);

export const ClientConfig = Type.Object({
  settings: Type.Record(Type.String(), Type.Unknown()),
  flags: Type.Record(Type.String(), Type.Unknown()),
  experiments,
});

const ConfigAnswer = Type.Object(
  {
    data: ClientConfig,
    meta: Type.Object({
      requestId: Type.String(),
      experiments: {
        ...experiments,
        description: 'The same as in `data`, repeated where feed responses have it.',
      },
    }),
  },
  { description: 'The result.' },
);

export function addConfigRoute(
  app: HttpApp,
  {
    assignments,
    viewerSignatures,
  }: { assignments: Assignments; viewerSignatures: SignatureReader },
): void {
  app.get(
    '/v1/config',
    {
      config: { access: 'publishable' },
      schema: {
        operationId: 'getConfig',
        summary: 'Get settings and flags for a viewer',
        description:
          'Returns the base values, overridden by rolled-out values and by the variants that the ' +
          'viewer is assigned to. Reading them makes the viewer a participant.',
        tags: ['Configuration'],
        querystring: ConfigQuery,
        response: answers({ 200: ConfigAnswer }),
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const { query, headers } = request;
      const named = query.userId ?? headerId(headers['x-user-id'], 'X-User-Id');
      const isOwn = named === null || (await maySpeakFor(request, named, viewerSignatures));
      const userId = isOwn ? named : null;
      const deviceId = query.deviceId ?? headerId(headers['x-device-id'], 'X-Device-Id');
      const segments = query.segments ?? textOf(headers['x-user-segments']) ?? '';
      const audience = {
        country: query.country ?? null,
        device: query.device ?? null,
        segments: segments
          .split(',')
          .map((segment) => segment.trim())
          .filter((segment) => segment !== ''),
      };
      const data = await assignments.forClient(organizationId, { userId, deviceId }, audience);
      return { data, meta: { experiments: data.experiments } };
    },
  );
}

type Header = string | string[] | undefined;

function textOf(header: Header): string | null {
  return typeof header === 'string' && header !== '' ? header : null;
}

function headerId(header: Header, name: string): string | null {
  const text = textOf(header);
  if (text !== null && text.length > 200) {
    throw fieldError(`headers.${name}`, 'must have at most 200 characters');
  }
  return text;
}
