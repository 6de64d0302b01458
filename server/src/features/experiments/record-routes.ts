import { Readable } from 'node:stream';
import { Type, type Static } from 'typebox';
import { csvLine } from '../../platform/values/csv.ts';
import type { Db } from '../../platform/database/database.ts';
import type { HttpApp } from '../../platform/http/app.ts';
import { fieldError } from '../../platform/http/errors.ts';
import { readPage, type ListCursors } from '../../platform/http/list-cursor.ts';
import { principalOf } from '../../platform/http/principal.ts';
import {
  answers,
  Closed,
  Envelope,
  IdParams,
  ListEnvelope,
  Nullable,
  OneOf,
  pageQuery,
  Timestamp,
} from '../../platform/http/schemas.ts';
import type { Mutations } from '../../platform/idempotency/idempotency.ts';
import { hashViewer, viewerOf } from '../analytics/analytics.ts';
import { ViewerSecrets } from '../organizations/organizations.ts';
import {
  countAssignments,
  listAssignments,
  type AssignmentRow,
} from './assignments/list-queries.ts';
import {
  countDecisions,
  decisionActions,
  listDecisions,
  presentDecision,
  recordDecision,
} from './decisions.ts';
import type { ExperimentRow } from './experiment.ts';
import { experimentConfig, getExperiment, experimentTags } from './routes.ts';
import { Note } from './schemas.ts';

type Parts = { db: Db; cursors: ListCursors; mutations: Mutations };

export function addRecordRoutes(app: HttpApp, parts: Parts): void {
  addAssignmentsRoute(app, parts);
  addDecisionsRoute(app, parts);
  addNoteRoute(app, parts);
}

const Assignment = Type.Object({
  userId: Nullable(Type.String()),
  deviceId: Nullable(Type.String({ description: 'Device of a unit without a user id.' })),
  variantId: Type.String(),
  exposedAt: Timestamp,
  country: Nullable(Type.String()),
  device: Nullable(Type.String()),
  isInSeveralVariants: Type.Boolean({
    description: 'The unit was later assigned another variant, so it is excluded from the results.',
  }),
});
type Assignment = Static<typeof Assignment>;

const csvPage = 5_000;

function addAssignmentsRoute(app: HttpApp, { db, cursors }: Parts): void {
  const secrets = new ViewerSecrets();
  app.get(
    '/v1/experiments/:id/assignments',
    {
      config: experimentConfig,
      schema: {
        operationId: 'listAssignments',
        summary: 'List the participants of an experiment',
        description:
          'Returns each unit with its first exposure. With `Accept: text/csv`, the response is all of them as ' +
          'CSV. Forced viewers do not participate. Ids are null for exposures that predate this list.',
        tags: experimentTags,
        params: IdParams,
        querystring: Closed({
          variantId: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
          userId: Type.Optional(
            Type.String({ minLength: 1, maxLength: 200, description: 'Only this user.' }),
          ),
          ...pageQuery,
        }),
        response: answers({ 200: ListEnvelope(Assignment) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      const { variantId = null, userId = null, ...page } = request.query;
      const row = await getExperiment(db, organizationId, request.params.id);
      await secrets.load(db, [organizationId]);
      const filter = {
        variant: variantId === null ? null : placeOfVariant(row, variantId),
        unitKey:
          userId === null
            ? null
            : Buffer.from(
                hashViewer(secrets, organizationId, viewerOf({ userId }) ?? ''),
                'latin1',
              ),
      };
      if (/\btext\/csv\b/i.test(request.headers.accept ?? '')) {
        const lines = csvOf(row, (after) =>
          listAssignments(db, row.number, filter, { limit: csvPage, after }),
        );
        await reply.type('text/csv; charset=utf-8').send(Readable.from(lines));
        return reply;
      }
      const { experiment_id: experimentId } = row;
      const scope = {
        list: 'assignments',
        organizationId,
        filter: { experimentId, variantId, userId },
      };
      return readPage(cursors, scope, page, {
        count: () => countAssignments(db, row.number, filter),
        read: (limit, after) =>
          listAssignments(db, row.number, filter, {
            limit,
            after: after && Buffer.from(String(after[0]), 'hex'),
          }),
        position: (unit) => [unit.unit_key.toString('hex')],
        present: (unit) => presentAssignment(row, unit),
      });
    },
  );
}

function placeOfVariant({ variants }: ExperimentRow, variantId: string): number {
  const place = variants.findIndex(({ id }) => id === variantId);
  if (place >= 0) return place;
  const ids = variants.map(({ id }) => id).join(', ');
  throw fieldError('variantId', `must be one of the variants: ${ids}`);
}

function presentAssignment({ variants }: ExperimentRow, unit: AssignmentRow): Assignment {
  const { viewer } = unit;
  const idOf = (kind: string) => (viewer?.startsWith(kind) === true ? viewer.slice(2) : null);
  return {
    userId: idOf('u:'),
    deviceId: idOf('d:'),
    variantId: variants[unit.variant]?.id ?? '',
    exposedAt: unit.exposed_at.toISOString(),
    country: unit.country,
    device: unit.device,
    isInSeveralVariants: unit.is_crossed,
  };
}

async function* csvOf(
  row: ExperimentRow,
  read: (after: Buffer | null) => Promise<AssignmentRow[]>,
): AsyncGenerator<string> {
  yield `${csvLine(Object.keys(Assignment.properties))}\r\n`;
  let after: Buffer | null = null;
  for (;;) {
    const page: AssignmentRow[] = await read(after);
    const last = page.at(-1);
    if (last === undefined) return;
    const lines = page.map((unit) => csvLine(Object.values(presentAssignment(row, unit))));
    yield `${lines.join('\r\n')}\r\n`;
    if (page.length < csvPage) return;
    after = last.unit_key;
  }
}

const Decision = Type.Object({
  decidedAt: Timestamp,
  action: OneOf(decisionActions),
  by: Nullable(
    Type.Object(
      { keyId: Type.String(), name: Nullable(Type.String()) },
      { description: 'The key that made the decision; null for the service itself.' },
    ),
  ),
  note: Nullable(Type.String()),
  changes: Nullable(Type.Record(Type.String(), Type.Unknown())),
});

function addDecisionsRoute(app: HttpApp, { db, cursors }: Parts): void {
  app.get(
    '/v1/experiments/:id/decisions',
    {
      config: experimentConfig,
      schema: {
        operationId: 'listDecisions',
        summary: 'List the decisions about an experiment',
        description: 'Newest first. Includes starts, changes, pauses, ends, rollouts and notes.',
        tags: experimentTags,
        params: IdParams,
        querystring: Closed(pageQuery),
        response: answers({ 200: ListEnvelope(Decision) }),
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const row = await getExperiment(db, organizationId, request.params.id);
      const filter = { experimentId: row.experiment_id };
      const scope = { list: 'decisions', organizationId, filter };
      return readPage(cursors, scope, request.query, {
        count: () => countDecisions(db, row),
        read: (limit, after) =>
          listDecisions(db, row, { limit, before: after && Number(after[0]) }),
        position: ({ number }) => [number],
        present: presentDecision,
      });
    },
  );
}

function addNoteRoute(app: HttpApp, { mutations }: Parts): void {
  app.post(
    '/v1/experiments/:id/decisions',
    {
      config: experimentConfig,
      schema: {
        operationId: 'addDecision',
        summary: 'Add a note to an experiment',
        description: 'Notes can be added at any time and cannot be changed.',
        tags: experimentTags,
        params: IdParams,
        body: Closed({ note: Note }),
        response: answers({ 201: Envelope(Decision) }),
      },
    },
    async (request, reply) => {
      const { organizationId, callerId: by } = principalOf(request);
      const { note } = request.body;
      return mutations.mutate(request, reply, async (tx) => {
        const row = await getExperiment(tx, organizationId, request.params.id);
        await recordDecision(tx, row, { action: 'noted', by, note });
        const [decision] = await listDecisions(tx, row, { limit: 1, before: null });
        if (decision === undefined) throw new Error('The note was not stored.');
        return { statusCode: 201, data: presentDecision(decision) };
      });
    },
  );
}
