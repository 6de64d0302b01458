import type { Db } from '../../platform/database/database.ts';
import type { HttpApp } from '../../platform/http/app.ts';
import { readPage, type ListCursors } from '../../platform/http/list-cursor.ts';
import { principalOf } from '../../platform/http/principal.ts';
import {
  answers,
  Closed,
  Envelope,
  IdParams,
  ListEnvelope,
  pageQuery,
} from '../../platform/http/schemas.ts';
import type { Mutations } from '../../platform/idempotency/idempotency.ts';
import { readOrganizationClock } from '../organizations/organizations.ts';
import {
  changeAlert,
  createAlert,
  deleteAlert,
  maxAlerts,
  noSuchAlert,
  parseAlertId,
  presentAlert,
  presentAlertEvent,
  readRule,
} from './alerts.ts';
import { testRule } from './backtest.ts';
import { countAlertEvents, findAlert, listAlertEvents, listAlerts } from './queries.ts';
import {
  Alert,
  AlertEvent,
  AlertPatch,
  AlertTest,
  AlertTestResult,
  DeletedAlert,
  NewAlert,
} from './schemas.ts';

export type AlertRouteParts = {
  readonly db: Db;
  readonly cursors: ListCursors;
  readonly mutations: Mutations;
  readonly publicUrl: string;
  /** Called after a change that may be announced to webhooks. */
  readonly onTold: () => void;
};

const config = { access: 'secret' as const };
const tags = ['Alerts'];

export function addAlertRoutes(app: HttpApp, parts: AlertRouteParts): void {
  addReadRoutes(app, parts);
  addCreateRoute(app, parts);
  addChangeRoutes(app, parts);
  addTestRoute(app, parts);
  addEventsRoute(app, parts);
}

function addReadRoutes(app: HttpApp, { db }: AlertRouteParts): void {
  app.get(
    '/v1/analytics/alerts',
    {
      config,
      schema: {
        operationId: 'listAlerts',
        summary: 'List alerts',
        description: `Returns the alerts with their state, oldest first. There are at most ${maxAlerts}.`,
        tags,
        response: answers({ 200: ListEnvelope(Alert) }),
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const rows = await listAlerts(db, organizationId);
      const clock = await readOrganizationClock(db, organizationId);
      const data = rows.map((row) => presentAlert(row, clock));
      return { data, meta: { total: data.length, nextCursor: null } };
    },
  );
  app.get(
    '/v1/analytics/alerts/:id',
    {
      config,
      schema: {
        operationId: 'getAlert',
        summary: 'Get an alert',
        tags,
        params: IdParams,
        response: answers({ 200: Envelope(Alert) }),
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const row = await findAlert(db, organizationId, parseAlertId(request.params.id));
      if (row === null) throw noSuchAlert();
      return { data: presentAlert(row, await readOrganizationClock(db, organizationId)) };
    },
  );
}

function addCreateRoute(app: HttpApp, { mutations }: AlertRouteParts): void {
  app.post(
    '/v1/analytics/alerts',
    {
      config,
      schema: {
        operationId: 'createAlert',
        summary: 'Create an alert',
        description:
          'Each hour in the organization’s time zone is evaluated a few minutes after it ends, over a window ' +
          'of hours that ends with it. The webhook event `analytics.alert` is sent when an alert opens and when ' +
          'it is resolved.',
        tags,
        body: NewAlert,
        response: answers({ 201: Envelope(Alert) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      return mutations.mutate(request, reply, async (tx) => {
        const row = await createAlert(tx, organizationId, request.body);
        const clock = await readOrganizationClock(tx, organizationId);
        return { statusCode: 201, data: presentAlert(row, clock) };
      });
    },
  );
}

function addChangeRoutes(app: HttpApp, { mutations, publicUrl, onTold }: AlertRouteParts): void {
  app.patch(
    '/v1/analytics/alerts/:id',
    {
      config,
      schema: {
        operationId: 'updateAlert',
        summary: 'Change an alert',
        description:
          'Changing the rule resets the alert. If it was firing, it is reported as resolved.',
        tags,
        params: IdParams,
        body: AlertPatch,
        response: answers({ 200: Envelope(Alert) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      const { id } = request.params;
      return mutations.mutate(request, reply, async (tx) => {
        const row = await changeAlert(tx, { organizationId, id }, request.body, { publicUrl });
        const clock = await readOrganizationClock(tx, organizationId);
        return { data: presentAlert(row, clock), onCommit: onTold };
      });
    },
  );
  app.delete(
    '/v1/analytics/alerts/:id',
    {
      config,
      schema: {
        operationId: 'deleteAlert',
        summary: 'Delete an alert',
        description: 'Also deletes its history. If it was firing, it is reported as resolved.',
        tags,
        params: IdParams,
        response: answers({ 200: Envelope(DeletedAlert) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      const { id } = request.params;
      return mutations.mutate(request, reply, async (tx) => {
        const deleted = await deleteAlert(tx, { organizationId, id }, { publicUrl });
        return { data: { id: deleted, deleted: true }, onCommit: onTold };
      });
    },
  );
}

function addTestRoute(app: HttpApp, { db }: AlertRouteParts): void {
  app.post(
    '/v1/analytics/alerts/test',
    {
      config,
      schema: {
        operationId: 'testAlert',
        summary: 'Test a rule against past data',
        description:
          'Reports when the alert would have opened in recent days. Nothing is stored and no webhook is notified.',
        tags,
        body: AlertTest,
        response: answers({ 200: Envelope(AlertTestResult) }),
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const { days = 14, ...given } = request.body;
      const clock = await readOrganizationClock(db, organizationId);
      return { data: await testRule(db, organizationId, readRule(given), { days, clock }) };
    },
  );
}

function addEventsRoute(app: HttpApp, { db, cursors }: AlertRouteParts): void {
  app.get(
    '/v1/analytics/alerts/:id/events',
    {
      config,
      schema: {
        operationId: 'listAlertEvents',
        summary: 'List when an alert opened and was resolved',
        description: 'Newest first, for the last 90 days.',
        tags,
        params: IdParams,
        querystring: Closed(pageQuery),
        response: answers({ 200: ListEnvelope(AlertEvent) }),
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const row = await findAlert(db, organizationId, parseAlertId(request.params.id));
      if (row === null) throw noSuchAlert();
      const { alertId } = row;
      const clock = await readOrganizationClock(db, organizationId);
      const scope = { list: 'alert events', organizationId, filter: { alertId } };
      return readPage(cursors, scope, request.query, {
        count: () => countAlertEvents(db, alertId),
        read: (limit, after) =>
          listAlertEvents(db, alertId, { limit, after: after && Number(after[0]) }),
        position: ({ number }) => [number],
        present: (event) => presentAlertEvent(event, clock),
      });
    },
  );
}
