import {
  createEngagement,
  type EngagementOptions as ProjectionSettings,
} from './engagement/engagement.ts';

import { facts } from '../facts/follower.ts';
import type { EventProjection } from '../../events/events.ts';
import type { EngagementFollower } from './engagement/follower.ts';
import { links } from './links/links.ts';
import { quality } from './quality/quality.ts';
import { realtime } from './realtime/realtime.ts';
import { reactions } from './reactions/reactions.ts';
import { retention } from './retention/retention.ts';

export type { ProjectionSettings };

/**
 * All projections of this feature.
 *
 * @param followers maintain further tables from views and sessions
 */
export function createProjections(
  settings: ProjectionSettings,
  followers: readonly EngagementFollower[],
): readonly EventProjection[] {
  return [createEngagement(settings, followers), quality, retention, links, reactions, realtime];
}

export const defaultSessionTimeoutMs = 30 * 60_000;

/** Only this feature's own projections, with default settings. */
export const ownProjections = createProjections({ sessionTimeoutMs: defaultSessionTimeoutMs }, [
  facts,
]);
