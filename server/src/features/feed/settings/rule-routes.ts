/** Routes for editorial rules: boost, suppress, pin, exclude. */
import type { Static } from 'typebox';
import type { HttpApp } from '../../../platform/http/app.ts';
import { ApiError } from '../../../platform/http/errors.ts';
import { newTypeId } from '../../../platform/values/ids.ts';
import { readPage } from '../../../platform/http/list-cursor.ts';
import { principalOf } from '../../../platform/http/principal.ts';
import {
  answers,
  Closed,
  Envelope,
  IdParams,
  ListEnvelope,
  pageQuery,
} from '../../../platform/http/schemas.ts';
import { parseTimestamp } from '../../../platform/values/time.ts';
import type { SettingsRouteParts } from './config-routes.ts';
import { maxRules } from './ranking-settings.ts';
import { checkRule } from './rules.ts';
import { DeletedRule, NewRule, Rule, RuleChange } from './schemas.ts';
import {
  bumpRevision,
  countRules,
  deleteRule,
  selectRule,
  selectRules,
  upsertRule,
  type RuleFields,
  type RuleRow,
} from './settings-queries.ts';

const config = { access: 'secret' as const };
const tags = ['Ranking'];

export function addRuleRoutes(app: HttpApp, parts: SettingsRouteParts): void {
  addListRoute(app, parts);
  addCreateRoute(app, parts);
  addUpdateRoute(app, parts);
  addDeleteRoute(app, parts);
}

function addListRoute(app: HttpApp, { db, cursors }: SettingsRouteParts): void {
  app.get(
    '/v1/ranking/rules',
    {
      config,
      schema: {
        operationId: 'listRankingRules',
        summary: 'List the editorial rules',
        description: 'Oldest first. If two pins claim the same position, the older one wins.',
        tags,
        querystring: Closed(pageQuery),
        response: answers({ 200: ListEnvelope(Rule) }),
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const scope = { list: 'ranking-rules', organizationId, filter: null };
      return readPage(cursors, scope, request.query, {
        count: () => countRules(db, organizationId),
        read: (limit, after) =>
          selectRules(db, organizationId, {
            limit,
            after: after === null ? null : String(after[0]),
          }),
        position: ({ ruleId }: RuleRow) => [ruleId],
        present,
      });
    },
  );
}

function addCreateRoute(app: HttpApp, { mutations, settings }: SettingsRouteParts): void {
  app.post(
    '/v1/ranking/rules',
    {
      config,
      schema: {
        operationId: 'createRankingRule',
        summary: 'Create an editorial rule',
        description:
          'Boosts and suppressions take a `factor`, pins a `position`. Rules take effect for every viewer ' +
          `within one second. An organization can have at most ${maxRules}.`,
        tags,
        body: NewRule,
        response: answers({ 201: Envelope(Rule) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      const rule = checkRule(toRule(request.body));
      return mutations.mutate(request, reply, async (tx) => {
        // Its lock makes the count exact.
        await bumpRevision(tx, organizationId);
        if ((await countRules(tx, organizationId)) >= maxRules) {
          throw new ApiError('LIMIT_EXCEEDED', {
            message: `An organization can have at most ${maxRules} ranking rules.`,
          });
        }
        return {
          statusCode: 201,
          data: present(await upsertRule(tx, organizationId, rule)),
          onCommit: () => settings.markChanged(organizationId),
        };
      });
    },
  );
}

function addUpdateRoute(app: HttpApp, { mutations, settings }: SettingsRouteParts): void {
  app.patch(
    '/v1/ranking/rules/:id',
    {
      config,
      schema: {
        operationId: 'updateRankingRule',
        summary: 'Change an editorial rule',
        tags,
        params: IdParams,
        body: RuleChange,
        response: answers({ 200: Envelope(Rule) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      return mutations.mutate(request, reply, async (tx) => {
        await bumpRevision(tx, organizationId);
        const known = await selectRule(tx, organizationId, request.params.id);
        if (known === null) throw noSuchRule();
        const { createdAt: _, updatedAt: __, ...fields } = known;
        const rule = checkRule({ ...fields, ...changeOf(request.body) });
        return {
          data: present(await upsertRule(tx, organizationId, rule)),
          onCommit: () => settings.markChanged(organizationId),
        };
      });
    },
  );
}

function addDeleteRoute(app: HttpApp, { mutations, settings }: SettingsRouteParts): void {
  app.delete(
    '/v1/ranking/rules/:id',
    {
      config,
      schema: {
        operationId: 'deleteRankingRule',
        summary: 'Delete an editorial rule',
        tags,
        params: IdParams,
        response: answers({ 200: Envelope(DeletedRule) }),
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      const { id } = request.params;
      return mutations.mutate(request, reply, async (tx) => {
        await bumpRevision(tx, organizationId);
        if (!(await deleteRule(tx, organizationId, id))) throw noSuchRule();
        return {
          data: { id, deleted: true as const },
          onCommit: () => settings.markChanged(organizationId),
        };
      });
    },
  );
}

function noSuchRule(): ApiError {
  return new ApiError('NOT_FOUND', { message: 'There is no ranking rule with this id.' });
}

function toRule(body: Static<typeof NewRule>): RuleFields {
  return {
    ruleId: newTypeId('rul'),
    type: body.type,
    match: body.match,
    factor: body.factor ?? null,
    position: body.position ?? null,
    startsAt: readTimestamp(body.startsAt),
    endsAt: readTimestamp(body.endsAt),
  };
}

function changeOf(body: Static<typeof RuleChange>): Partial<RuleFields> {
  const { startsAt, endsAt, ...others } = body;
  return {
    ...others,
    ...(startsAt !== undefined && { startsAt: readTimestamp(startsAt) }),
    ...(endsAt !== undefined && { endsAt: readTimestamp(endsAt) }),
  };
}

function readTimestamp(given: string | null | undefined): Date | null {
  return given === undefined || given === null ? null : parseTimestamp(given);
}

function present(row: RuleRow) {
  return {
    id: row.ruleId,
    type: row.type,
    match: row.match,
    factor: row.factor,
    position: row.position,
    startsAt: row.startsAt?.toISOString() ?? null,
    endsAt: row.endsAt?.toISOString() ?? null,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}
