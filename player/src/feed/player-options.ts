import {
  type EngagementEvent,
  type FeedItem,
  type FeedQuery,
  type Reelfeed,
} from '@reelfeed/client';
import { type Axis } from './column.ts';
import { type FeedList, type Preferences, type Store } from '@reelfeed/client/playing';
import { type Permissions } from '../playback/permissions.ts';
import { type ReactionParts } from './reactions.ts';
import { type ArticleCard } from '../types.ts';

export type PlayerOptions = ReactionParts & {
  readonly host: HTMLElement;
  readonly root: HTMLElement;
  readonly slideTemplate: HTMLTemplateElement;
  readonly device: Store;
  readonly preferences: Preferences;
  readonly axis: Axis;
  /** How the viewer reached the linked item. */
  readonly entryPoint: 'share' | 'direct';
  readonly articleCard: () => ((item: FeedItem) => ArticleCard | null) | null;
  readonly permissions: Permissions;
  readonly client: Reelfeed;
  readonly query: Pick<FeedQuery, 'tags' | 'section'>;
  readonly sessionId: string;
  /** Whether the element is the whole page and may take the focus and set the title. */
  readonly ownsPage: boolean;
  /** The only item to play; null for a feed. */
  readonly contentId: string | null;
  /** Records an event for the service. */
  readonly track: (event: EngagementEvent) => void;
  /** Called after each change to the list, once the column shows it. */
  readonly listChanged: (list: FeedList) => void;
  /** Called when another item becomes active. */
  readonly slideShown: (item: FeedItem) => void;
};
