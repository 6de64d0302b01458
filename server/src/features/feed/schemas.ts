import { Type } from 'typebox';
import { Closed, Nullable, OneOf } from '../../platform/http/schemas.ts';
import { contentTypes } from '../content/content.ts';
import { publicItemFields } from '../content/feed-items/feed-items.ts';
import { largestPage } from './feed.ts';

/** Same limit as for events. */
export const maxViewerId = 256;

export const viewerId = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: maxViewerId, description }));

export const FeedQuery = Closed({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: largestPage, default: 20 })),
  cursor: Type.Optional(Type.String({ minLength: 1, maxLength: 8_000 })),
  userId: viewerId('Identified user. Same as the header X-User-Id.'),
  deviceId: viewerId('Device of the viewer. Same as the header X-Device-Id.'),
  sessionId: viewerId('Viewing session. Same as the header X-Session-Id.'),
  country: Type.Optional(
    Type.String({ pattern: '^[A-Za-z]{2}$', description: 'ISO 3166-1 alpha-2.' }),
  ),
  device: Type.Optional(OneOf(['ios', 'android', 'web'] as const)),
  segments: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 5_000,
      description:
        'Comma-separated list of the viewer’s segments, for experiments. Same as the header X-User-Segments.',
    }),
  ),
  tags: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 2000,
      description: 'Comma-separated list. An item matches if it has any of them.',
    }),
  ),
  section: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  author: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  contentType: Type.Optional(OneOf(contentTypes)),
  excludeIds: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 8_000,
      description: 'Comma-separated list of item ids to leave out.',
    }),
  ),
  explain: Type.Optional(
    Type.Boolean({ description: 'Adds `ranking` to each item. Requires a secret key.' }),
  ),
});

/** Fields of every feed item and of every video in a carousel. */
const feedItemFields = {
  ...publicItemFields,
  isLive: Type.Boolean(),
  liveStreamId: Nullable(Type.String()),
  liveStreamStatus: Nullable(OneOf(['idle', 'active', 'ended'] as const)),
  currentViewers: Type.Integer(),
  engagement: Type.Object({
    views: Type.Integer(),
    likes: Type.Integer(),
    shares: Type.Integer(),
    saves: Type.Integer(),
  }),
};

const FeedVideo = Type.Object(feedItemFields, { title: 'FeedVideo' });

export const FeedItem = Type.Object(
  {
    ...feedItemFields,
    videos: Type.Optional(
      Type.Array(FeedVideo, {
        minItems: 1,
        description: 'Video carousels only. The videos that may currently be shown.',
      }),
    ),
    ranking: Type.Optional(
      Type.Object({
        score: Type.Number(),
        signals: Type.Record(Type.String(), Type.Number()),
        weights: Type.Record(Type.String(), Type.Number()),
        contributions: Type.Record(Type.String(), Type.Number(), {
          description: 'Contributions of the signals and of other factors, which sum to the score.',
        }),
        reasons: Type.Array(Type.String()),
      }),
    ),
  },
  { title: 'FeedItem' },
);

export const FeedPage = Type.Object({
  data: Type.Array(FeedItem),
  meta: Type.Object({
    requestId: Type.String(),
    nextCursor: Nullable(Type.String()),
    hasMore: Type.Boolean(),
    feedId: Type.String({ description: 'Id of the feed session, to be sent with impressions.' }),
    exhausted: Type.Boolean({
      description:
        'No more unseen items are available for this viewer. Items seen within the last 30 ' +
        'days follow, least recently seen first.',
    }),
    experiments: Type.Array(Type.Object({ experimentId: Type.String(), variantId: Type.String() })),
  }),
});
