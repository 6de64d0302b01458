import { Type, type Static } from 'typebox';
import type { HttpApp } from '../../../platform/http/app.ts';
import type { Db } from '../../../platform/database/database.ts';
import { ApiError } from '../../../platform/http/errors.ts';
import { parseContentId, type ContentId } from '../../../platform/values/ids.ts';
import { principalOf, type Principal } from '../../../platform/http/principal.ts';
import { answers, Closed, IdParams } from '../../../platform/http/schemas.ts';
import { findItems } from '../../content/content.ts';
import { isPlayable } from '../../content/feed-items/feed-items.ts';
import type { FeedParts } from '../feed.ts';
import type { FeedView } from '../items/feed-index.ts';
import { isDue } from '../items/feed-entry.ts';
import { Choice } from '../ranking/choice.ts';
import { EditorialRules } from '../ranking/editorial.ts';
import { noFilter } from '../ranking/filter.ts';
import { weightedSum } from '../ranking/scorer.ts';
import { FeedItem } from '../schemas.ts';
import { unknownViewer } from '../viewers/viewer-profiles.ts';
import { selectSerialNumber } from './taste-queries.ts';
import { similarTo, type Original } from './similar.ts';

const maxItems = 50;
/** The longest wait for the database. */
const hydrationMs = 2_000;

const Query = Closed({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: maxItems, default: 20 })),
  country: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z]{2}$',
      description:
        'Country of the viewer, ISO 3166-1 alpha-2. Excludes items that may not be shown there.',
    }),
  ),
});

const SimilarItems = Type.Object({
  data: Type.Array(FeedItem),
  meta: Type.Object({ requestId: Type.String() }),
});

/** Similar items, for a page with one video. */
export function addSimilarRoute(app: HttpApp, parts: FeedParts & { db: Db }): void {
  app.get(
    '/v1/content/:id/similar',
    {
      config: { access: 'publishable' },
      schema: {
        operationId: 'listSimilarContent',
        summary: 'List similar items',
        description:
          'Returns items that are watched by the same viewers, most similar first. If few viewers have watched ' +
          'them, returns items with the same tags or author. There may be fewer than `limit`, or none.',
        tags: ['Feed'],
        params: IdParams,
        querystring: Query,
        response: answers({ 200: SimilarItems }),
      },
    },
    async (request, reply) => {
      const principal = principalOf(request);
      const items = await readSimilar(parts, principal, request.params.id, request.query);
      const body = Buffer.concat([
        Buffer.from('{"data":['),
        ...items.flatMap(({ item, engagement }, index) =>
          index === 0 ? [item, engagement] : [Buffer.from(','), item, engagement],
        ),
        Buffer.from(`],"meta":${JSON.stringify({ requestId: request.id })}}`),
      ]);
      return reply.type('application/json; charset=utf-8').send(body);
    },
  );
}

async function readSimilar(
  parts: FeedParts & { db: Db },
  principal: Principal,
  id: string,
  { limit = 20, country }: Static<typeof Query>,
) {
  const { organizationId } = principal;
  const contentId = parseContentId(id);
  const view = await parts.index.view(organizationId);
  const original =
    contentId === null ? null : await findOriginal(parts.db, principal, contentId, view);
  if (original === null) {
    throw new ApiError('NOT_FOUND', { message: 'There is no content item with this id.' });
  }
  const { config, rules } = await parts.settings.of(organizationId);
  const newChoice = () =>
    new Choice({
      index: view.index,
      viewer: unknownViewer,
      config,
      scorer: weightedSum(config.weights),
      rules: new EditorialRules(rules, view.nowMs),
      filter: noFilter,
      excludedIds: new Set(),
      canPresent: null,
      country: country?.toUpperCase() ?? null,
      nowMs: view.nowMs,
      random: Math.random,
      deadline: Infinity,
    });
  const entries = await similarTo(original, view.index, newChoice, limit);
  const live = await parts.liveStreams.ofItems(organizationId, entries);
  const deadline = performance.now() + hydrationMs;
  const items = await parts.hydrator.read({
    organizationId,
    entries,
    live,
    deadline,
    numbersDeadline: deadline,
  });
  if (items.length > 0 && items.every((item) => item === undefined))
    throw new ApiError('UNAVAILABLE');
  // Undefined means an item that could not be read in time; the rest is still a valid response.
  return items.filter((item) => item !== null && item !== undefined);
}

/** A publishable key can only name items it may play; a secret key can name any item. */
async function findOriginal(
  db: Db,
  { organizationId, type }: Principal,
  contentId: ContentId,
  { index, nowMs }: FeedView,
): Promise<Original | null> {
  const entry = index.findById(contentId);
  if (entry !== undefined && isDue(entry, nowMs)) return entry;
  const [row] = await findItems(db, organizationId, [contentId]);
  if (row === undefined) return null;
  if (type !== 'secret' && !isPlayable(row, nowMs)) return null;
  const serialNumber = await selectSerialNumber(db, organizationId, contentId);
  return serialNumber === null ? null : { serialNumber, tags: row.tags, author: row.author };
}
