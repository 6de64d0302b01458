import { Type } from 'typebox';
import type { Db } from '../../../platform/database/database.ts';
import type { HttpApp } from '../../../platform/http/app.ts';
import { principalOf } from '../../../platform/http/principal.ts';
import {
  answers,
  Closed,
  Envelope,
  IdParams,
  OneOf,
  Timestamp,
} from '../../../platform/http/schemas.ts';
import type { Mutations } from '../../../platform/idempotency/idempotency.ts';
import { DeletedExport, exportFields, ExportFilter } from '../schemas.ts';
import { compressions, datasets, formats } from '../tables.ts';
import { listSchedules } from './schedule-queries.ts';
import { createSchedule, deleteSchedule, presentSchedule } from './schedules.ts';

const NewSchedule = Closed({
  ...exportFields,
  delayHours: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 48,
      description:
        'Hours from the end of a day to its export. Events can arrive up to 24 hours late, so a day is complete after 25 hours. Default: 1.',
    }),
  ),
  startDate: Type.Optional(
    Type.String({ description: 'First day to export. Default: today.', examples: ['2026-01-31'] }),
  ),
});

const Schedule = Type.Object(
  {
    id: Type.String({ examples: ['dxs_01jd0000000000000000000000'] }),
    dataset: OneOf(datasets),
    format: OneOf(formats),
    compression: OneOf(compressions),
    filter: Type.Partial(ExportFilter),
    delayHours: Type.Integer(),
    nextDate: Type.String({ description: 'Next day to export.' }),
    createdAt: Timestamp,
  },
  { title: 'ExportSchedule' },
);

const tags = ['Exports'];
const config = { access: 'secret', role: 'analyst' } as const;

export function addScheduleRoutes(
  app: HttpApp,
  { db, mutations }: { readonly db: Db; readonly mutations: Mutations },
): void {
  app.post(
    '/v1/exports/schedules',
    {
      config,
      schema: {
        operationId: 'createExportSchedule',
        summary: 'Export every day',
        description:
          'Each day is exported separately once it has ended in the time zone of the organization. `export.ready` reports each export.',
        tags,
        body: NewSchedule,
        response: answers({ 201: Envelope(Schedule) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      return mutations.mutate(request, reply, async (tx) => ({
        statusCode: 201,
        data: presentSchedule(await createSchedule(tx, organizationId, request.body)),
      }));
    },
  );

  app.get(
    '/v1/exports/schedules',
    {
      config,
      schema: {
        operationId: 'listExportSchedules',
        summary: 'List the export schedules',
        description: 'Oldest first. There are at most 20.',
        tags,
        response: answers({ 200: Envelope(Type.Array(Schedule)) }),
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      return { data: (await listSchedules(db, organizationId)).map(presentSchedule) };
    },
  );

  app.delete(
    '/v1/exports/schedules/:id',
    {
      config,
      schema: {
        operationId: 'deleteExportSchedule',
        summary: 'Stop a schedule',
        description: 'Its existing exports are kept.',
        tags,
        params: IdParams,
        response: answers({ 200: Envelope(DeletedExport) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      return mutations.mutate(request, reply, async (tx) => {
        const id = await deleteSchedule(tx, organizationId, request.params.id);
        return { data: { id, deleted: true } };
      });
    },
  );
}
