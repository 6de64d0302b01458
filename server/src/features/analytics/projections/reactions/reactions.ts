/**
 * The projection `reactions`: how many viewers currently like an item, have saved it, reported it,
 * or do not want it. For each viewer, the latest event of a pair such as like and unlike decides,
 * by time and then by id. A viewer therefore counts once, and the counts are a function of the set
 * of events.
 */
import type { Tx } from '../../../../platform/database/database.ts';
import type { ProjectionWriter } from '../../../../platform/projections/projection.ts';
import type { Viewer } from '../../../../platform/feature/feature.ts';
import {
  erasureKey,
  replacementEventId,
  type EventBlock,
  type EventProjection,
  type LoggedEvent,
} from '../../../events/events.ts';
import { ViewerSecrets } from '../../../organizations/organizations.ts';
import { hashViewer, partitionKeyOf, viewerOf } from '../../statistics/viewer-key.ts';
import { deleteItemRows, deleteViewerRows } from '../table-queries.ts';
import {
  keepEarlierReactions,
  renameReactionEvent,
  writeReactions,
  type ViewerReaction,
} from './reaction-queries.ts';

export const reactions: EventProjection = {
  name: 'reactions',
  tables: ['viewer_reaction', 'reaction_counter'],
  createWriter: () => new ReactionsWriter(),
  partitionKey: partitionKeyOf,
  maxDuty: 1,
  async eraseViewer(tx, viewer) {
    await renameEvent(tx, viewer);
    return deleteViewerRows(tx, 'viewer_reaction', viewer);
  },
  async purgeItems(tx, items) {
    for (const table of ['viewer_reaction', 'reaction_counter'] as const) {
      await deleteItemRows(tx, table, items);
    }
  },
  expire: [],
  rebuild: { from: 'log', carryOver: keepEarlierReactions },
};

/**
 * Renames other viewers' events whose id equals the erased viewer's id. The log has already renamed
 * them.
 */
async function renameEvent(tx: Tx, viewer: Viewer): Promise<void> {
  const { organizationId, userId } = viewer;
  const replacement = replacementEventId(await erasureKey(tx, viewer));
  const secrets = new ViewerSecrets();
  await secrets.load(tx, [organizationId]);
  const keyOf = (eventId: string) =>
    Buffer.from(hashViewer(secrets, organizationId, anonymous(eventId)), 'latin1');
  await renameReactionEvent(tx, organizationId, {
    from: { eventId: userId, viewerKey: keyOf(userId) },
    to: { eventId: replacement, viewerKey: keyOf(replacement) },
  });
}

/** An event without a viewer counts as a separate viewer. */
function anonymous(eventId: string): string {
  return `e:${eventId}`;
}

/** A reaction whose viewer is not hashed yet. */
type FoundReaction = Omit<ViewerReaction, 'viewerKey'> & { readonly viewer: string };

class ReactionsWriter implements ProjectionWriter<LoggedEvent> {
  #pass = new Map<string, FoundReaction>();
  readonly #secrets = new ViewerSecrets();

  collect(blocks: readonly EventBlock[]): void {
    for (const { organizationId, events } of blocks) {
      for (const event of events) {
        const pair = pairOf(event);
        if (pair === null) continue;
        const { contentId, at, eventId } = event;
        const viewer = viewerOf(event) ?? anonymous(eventId);
        const key = `${organizationId} ${contentId} ${pair.reaction} ${viewer}`;
        const found = { organizationId, contentId, viewer, at, eventId, ...pair };
        const before = this.#pass.get(key);
        if (before === undefined || isLater(found, before)) this.#pass.set(key, found);
      }
    }
  }

  async write(tx: Tx): Promise<void> {
    const found = [...this.#pass.values()];
    this.#pass = new Map();
    if (found.length === 0) return;
    await this.#secrets.load(tx, new Set(found.map(({ organizationId }) => organizationId)));
    const hashed = found.map(({ viewer, ...rest }) => ({
      ...rest,
      viewerKey: hashViewer(this.#secrets, rest.organizationId, viewer),
    }));
    await writeReactions(tx, hashed);
  }

  forget(): void {
    this.#pass = new Map();
  }
}

/** The reversible reaction of an event, from its kind or from `data.undo`. */
function pairOf({ event, data }: LoggedEvent): Pick<ViewerReaction, 'reaction' | 'isSet'> | null {
  if (event === 'like' || event === 'unlike') return { reaction: 'like', isSet: event === 'like' };
  if (event === 'save' || event === 'unsave') return { reaction: 'save', isSet: event === 'save' };
  const isSet = data['undo'] !== true;
  if (event === 'report') return { reaction: 'report', isSet };
  if (event === 'notInterested') return { reaction: 'notInterested', isSet };
  return null;
}

/** Compares ids by their bytes, as the database does. */
function isLater(one: FoundReaction, other: FoundReaction): boolean {
  if (one.at !== other.at) return one.at > other.at;
  return Buffer.compare(Buffer.from(one.eventId), Buffer.from(other.eventId)) > 0;
}
