/** The part of the experiments feature that the feed uses; see `features/experiments`. */
import type { Device } from '@reelfeed/client/assignment';
import type { OrganizationId } from '../../platform/values/ids.ts';
import type { Objective } from './ranking/config.ts';
import type { Weights } from './ranking/weights.ts';

export type AssignmentTargeting = {
  readonly country: string | null;
  readonly device: Device | null;
  readonly segments: readonly string[];
  /** When the organization set its weights, which override earlier rollouts. */
  readonly weightsSetAtMs: number;
};

export type Assignment = {
  readonly experiments: readonly { readonly experimentId: string; readonly variantId: string }[];
  /** Weights that replace those of the organization, or null. */
  readonly rankingWeights: Partial<Weights> | null;
  /** Objective that replaces the organization's choice, or null. */
  readonly rankingObjective: Objective | null;
};

/**
 * A viewer's assignment, decided from memory. Waits only for changes that this process has just
 * made. The unit is the user, otherwise the device; a viewer without ids has no assignment.
 */
export type Assign = (
  organizationId: OrganizationId,
  viewer: { readonly userId?: string; readonly deviceId?: string },
  targeting: AssignmentTargeting,
) => Promise<Assignment>;

/** The assignment functions for the feed, provided by `features/experiments`. */
export type AssignmentSource = {
  forFeed(
    organizationId: OrganizationId,
    viewer: Parameters<Assign>[1],
    audience: Omit<AssignmentTargeting, 'weightsSetAtMs'>,
    weightsSetAtMs: number,
  ): Promise<Assignment>;
};

export const notAssigned: Assignment = {
  experiments: [],
  rankingWeights: null,
  rankingObjective: null,
};

const nothing = Promise.resolve(notAssigned);

export const noAssignments: Assign = () => nothing;
