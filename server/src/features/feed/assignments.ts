/** The interface of experiments that the feed uses; see `features/experiments`. */
import type { Device } from '@reelfeed/client/assignment';
import type { OrganizationId } from '../../platform/ids.ts';
import type { Objective } from './ranking/config.ts';
import type { Weights } from './ranking/weights.ts';

export type AssignmentTargeting = {
  readonly country: string | null;
  readonly device: Device | null;
  readonly segments: readonly string[];
  /** When the organization set its weights, which override earlier roll-outs. */
  readonly weightsSetAtMs: number;
};

export type Assignment = {
  readonly experiments: readonly { readonly experimentId: string; readonly variantId: string }[];
  /** Weights that replace those of the organization; null for none. */
  readonly rankingWeights: Partial<Weights> | null;
  /** What scores say instead of what the organization has chosen; null for no change. */
  readonly rankingObjective: Objective | null;
};

/**
 * What a viewer is assigned to, from memory; it waits only for changes that this process has just
 * made. The unit is the user, else the device; a viewer without ids has no assignment.
 */
export type Assign = (
  organizationId: OrganizationId,
  viewer: { readonly userId?: string; readonly deviceId?: string },
  targeting: AssignmentTargeting,
) => Promise<Assignment>;

/** Who answers for the feed, as `features/experiments` provides it. */
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
