/** Routes for base values: the same five for settings and for flags. */
import type { Db } from '../../platform/database/database.ts';
import type { SettingKind } from './tables.ts';
import type { HttpApp } from '../../platform/http/app.ts';
import { ApiError, fieldError } from '../../platform/http/errors.ts';
import { readPage, type ListCursors } from '../../platform/http/list-cursor.ts';
import { principalOf } from '../../platform/http/principal.ts';
import { answers, Closed, Envelope, ListEnvelope, pageQuery } from '../../platform/http/schemas.ts';
import type { Mutations } from '../../platform/idempotency/idempotency.ts';
import { formatTimestamp } from '../../platform/values/time.ts';
import {
  countValues,
  deleteValue,
  findValue,
  listValues,
  lockConfiguration,
  upsertValue,
  type SettingRow,
} from './queries.ts';
import { DeletedValue, KeyParams, NewValue, Value } from './schemas.ts';
import { isSettingKey, maxKeyCharacters, problemOfValue } from './settings.ts';

export type SettingRouteParts = {
  db: Db;
  cursors: ListCursors;
  mutations: Mutations;
  /** Called after a change is committed. */
  onChange: () => void;
};

type Kind = { kind: SettingKind; path: string; noun: string; operation: string };

const kinds: readonly Kind[] = [
  { kind: 'setting', path: '/v1/settings', noun: 'setting', operation: 'Setting' },
  { kind: 'flag', path: '/v1/flags', noun: 'flag', operation: 'Flag' },
];

const tags = ['Configuration'];
const config = { access: 'secret' as const };
const maxValues = 1_000;

export function addSettingRoutes(app: HttpApp, parts: SettingRouteParts): void {
  for (const kind of kinds) {
    addListRoute(app, parts, kind);
    addGetRoute(app, parts, kind);
    addPutRoute(app, parts, kind);
    addDeleteRoute(app, parts, kind);
  }
}

function present(row: SettingRow) {
  return { key: row.key, value: row.value, updatedAt: formatTimestamp(row.updated_at) };
}

function addListRoute(app: HttpApp, { db, cursors }: SettingRouteParts, of: Kind): void {
  app.get(
    of.path,
    {
      config,
      schema: {
        operationId: `list${of.operation}s`,
        summary: `List ${of.noun}s`,
        description: 'Returns base values by key, without overrides by experiments.',
        tags,
        querystring: Closed(pageQuery),
        response: answers({ 200: ListEnvelope(Value) }),
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const scope = { list: of.path, organizationId, filter: null };
      return readPage(cursors, scope, request.query, {
        count: () => countValues(db, organizationId, of.kind),
        read: (limit, after) =>
          listValues(db, organizationId, of.kind, { limit, after: after && String(after[0]) }),
        position: (row) => [row.key],
        present,
      });
    },
  );
}

function addGetRoute(app: HttpApp, { db }: SettingRouteParts, of: Kind): void {
  app.get(
    `${of.path}/:key`,
    {
      config,
      schema: {
        operationId: `get${of.operation}`,
        summary: `Get the base value of a ${of.noun}`,
        tags,
        params: KeyParams,
        response: answers({ 200: Envelope(Value) }),
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const row = await findValue(db, organizationId, of.kind, request.params.key);
      if (row === null) throw new ApiError('NOT_FOUND');
      return { data: present(row) };
    },
  );
}

function addPutRoute(app: HttpApp, { mutations, onChange }: SettingRouteParts, of: Kind): void {
  app.put(
    `${of.path}/:key`,
    {
      config,
      schema: {
        operationId: `put${of.operation}`,
        summary: `Set the base value of a ${of.noun}`,
        description: 'Clients get it with `GET /v1/config`, unless an experiment overrides it.',
        tags,
        params: KeyParams,
        body: NewValue,
        response: answers({ 200: Envelope(Value) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      const { key } = request.params;
      const { value } = request.body;
      if (!isSettingKey(key)) {
        const form = `at most ${maxKeyCharacters} letters, digits, "_" and "-", joined by dots`;
        throw fieldError('key', `must be a name of ${form}`);
      }
      const problem = problemOfValue(of.kind, value);
      if (problem !== null) throw fieldError('value', problem);
      await mutations.mutate(request, reply, async (tx) => {
        await lockConfiguration(tx, organizationId);
        const isNew = (await findValue(tx, organizationId, of.kind, key)) === null;
        if (isNew && (await countValues(tx, organizationId, of.kind)) >= maxValues) {
          const message = `An organization can have at most ${maxValues} ${of.noun}s.`;
          throw new ApiError('LIMIT_EXCEEDED', { message });
        }
        return { data: present(await upsertValue(tx, organizationId, of.kind, key, value)) };
      });
      onChange();
      return reply;
    },
  );
}

function addDeleteRoute(app: HttpApp, { mutations, onChange }: SettingRouteParts, of: Kind): void {
  app.delete(
    `${of.path}/:key`,
    {
      config,
      schema: {
        operationId: `delete${of.operation}`,
        summary: `Remove the base value of a ${of.noun}`,
        tags,
        params: KeyParams,
        response: answers({ 200: Envelope(DeletedValue) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      const { key } = request.params;
      await mutations.mutate(request, reply, async (tx) => {
        await lockConfiguration(tx, organizationId);
        if (!(await deleteValue(tx, organizationId, of.kind, key))) throw new ApiError('NOT_FOUND');
        return { data: { key, deleted: true } };
      });
      onChange();
      return reply;
    },
  );
}
