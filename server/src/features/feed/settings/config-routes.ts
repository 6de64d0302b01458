/** Routes to read, change and restore the ranking configuration, and to list its signals. */
import { Type } from 'typebox';
import type { Db, Tx } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/values/ids.ts';
import type { HttpApp } from '../../../platform/http/app.ts';
import { ApiError, fieldError } from '../../../platform/http/errors.ts';
import { readPage, type ListCursors } from '../../../platform/http/list-cursor.ts';
import { principalOf, type Principal } from '../../../platform/http/principal.ts';
import {
  answers,
  Closed,
  Envelope,
  ListEnvelope,
  pageQuery,
} from '../../../platform/http/schemas.ts';
import type { Mutations } from '../../../platform/idempotency/idempotency.ts';
import { baseConfig, mergeConfig, problemOfConfig, type RankingConfig } from '../ranking/config.ts';
import { modelState } from '../learned/model-state.ts';
import { selectTraining } from '../learned/model-queries.ts';
import { signalNames, signals } from '../ranking/signals/table.ts';
import type { SettingsReader } from './ranking-settings.ts';
import {
  ConfigVersion,
  CurrentConfig,
  PartialConfig,
  RankingSignal,
  VersionParams,
} from './schemas.ts';
import {
  bumpRevision,
  countConfigVersions,
  insertConfig,
  selectConfig,
  selectConfigVersion,
  selectConfigVersions,
  type ConfigRow,
} from './settings-queries.ts';

export type SettingsRouteParts = {
  readonly db: Db;
  readonly cursors: ListCursors;
  readonly mutations: Mutations;
  readonly settings: SettingsReader;
};

const config = { access: 'secret' as const };
const tags = ['Ranking'];

export function addConfigRoutes(app: HttpApp, parts: SettingsRouteParts): void {
  addSignalsRoute(app);
  addReadRoute(app, parts);
  addReplaceRoute(app, parts);
  addVersionsRoute(app, parts);
  addRestoreRoute(app, parts);
}

function addSignalsRoute(app: HttpApp): void {
  app.get(
    '/v1/ranking/signals',
    {
      config,
      schema: {
        operationId: 'listRankingSignals',
        summary: 'List the ranking signals',
        description: 'Returns each signal with its default weight and its limit.',
        tags,
        response: answers({ 200: Envelope(Type.Array(RankingSignal)) }),
      },
    },
    async () => ({
      data: signalNames.map((name) => {
        const { label, description, defaultWeight, maxWeight } = signals[name];
        return { name, label, description, defaultWeight, maxWeight };
      }),
    }),
  );
}

function addReadRoute(app: HttpApp, { db }: SettingsRouteParts): void {
  app.get(
    '/v1/ranking/config',
    {
      config,
      schema: {
        operationId: 'getRankingConfig',
        summary: 'Get the ranking configuration',
        tags,
        response: answers({ 200: Envelope(CurrentConfig) }),
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const row = await selectConfig(db, organizationId);
      const stored = mergeConfig(baseConfig, row?.config ?? {});
      return { data: await present(db, organizationId, row?.version ?? 0, stored) };
    },
  );
}

function addReplaceRoute(app: HttpApp, { mutations, settings }: SettingsRouteParts): void {
  app.put(
    '/v1/ranking/config',
    {
      config,
      schema: {
        operationId: 'replaceRankingConfig',
        summary: 'Replace the ranking configuration',
        description:
          'Omitted weights and fields take their defaults. Every change is kept as a version.',
        tags,
        body: PartialConfig,
        response: answers({ 200: Envelope(CurrentConfig) }),
      },
    },
    async (request, reply) => {
      const principal = principalOf(request);
      const wanted = mergeConfig(baseConfig, request.body);
      const problem = problemOfConfig(wanted);
      if (problem !== null) throw fieldError(problem.path, problem.message);
      return mutations.mutate(request, reply, async (tx) => ({
        data: await store(tx, principal, wanted),
        onCommit: () => settings.markChanged(principal.organizationId),
      }));
    },
  );
}

function addVersionsRoute(app: HttpApp, { db, cursors }: SettingsRouteParts): void {
  app.get(
    '/v1/ranking/config/versions',
    {
      config,
      schema: {
        operationId: 'listRankingConfigVersions',
        summary: 'List the versions of the ranking configuration',
        description: 'Newest first. The first version in the list is in effect.',
        tags,
        querystring: Closed(pageQuery),
        response: answers({ 200: ListEnvelope(ConfigVersion) }),
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const scope = { list: 'ranking-config', organizationId, filter: null };
      return readPage(cursors, scope, request.query, {
        count: () => countConfigVersions(db, organizationId),
        read: (limit, after) =>
          selectConfigVersions(db, organizationId, {
            limit,
            before: after === null ? null : Number(after[0]),
          }),
        position: ({ version }: ConfigRow) => [version],
        present: ({ version, config: stored, apiKeyId, createdAt }: ConfigRow) => ({
          version,
          config: mergeConfig(baseConfig, stored),
          keyId: apiKeyId,
          createdAt: createdAt.toISOString(),
        }),
      });
    },
  );
}

function addRestoreRoute(app: HttpApp, { mutations, settings }: SettingsRouteParts): void {
  app.post(
    '/v1/ranking/config/versions/:version/restore',
    {
      config,
      schema: {
        operationId: 'restoreRankingConfigVersion',
        summary: 'Restore a version of the ranking configuration',
        description: 'Creates a new version with the configuration of the given version.',
        tags,
        params: VersionParams,
        response: answers({ 200: Envelope(CurrentConfig) }),
      },
    },
    async (request, reply) => {
      const principal = principalOf(request);
      const version = /^[1-9]\d{0,8}$/.test(request.params.version)
        ? Number(request.params.version)
        : 0;
      return mutations.mutate(request, reply, async (tx) => {
        const row = await selectConfigVersion(tx, principal.organizationId, version);
        if (row === null) {
          throw new ApiError('NOT_FOUND', { message: 'There is no such version.' });
        }
        return {
          data: await store(tx, principal, mergeConfig(baseConfig, row.config)),
          onCommit: () => settings.markChanged(principal.organizationId),
        };
      });
    },
  );
}

async function store(tx: Tx, { organizationId, callerId }: Principal, wanted: RankingConfig) {
  await bumpRevision(tx, organizationId);
  const { version } = await insertConfig(tx, organizationId, wanted, callerId);
  return present(tx, organizationId, version, wanted);
}

async function present(
  db: Db,
  organizationId: OrganizationId,
  version: number,
  { weights, ...others }: RankingConfig,
) {
  const model = modelState(await selectTraining(db, organizationId));
  return { version, weights, ...others, model };
}
