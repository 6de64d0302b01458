/**
 * Decides from memory what viewers are given. Each process keeps a view of every organization that
 * has settings or experiments. It compares versions twice a second, and immediately after its own
 * changes. An assignment does not depend on the view being current: it is a pure function of ids,
 * plus what a signed-in viewer was given earlier (`known-variants.ts`).
 */
import type { Logger } from 'pino';
import type { Audience } from '@reelfeed/client/assignment';
import type { Db } from '../../../platform/database/database.ts';
import type { Hints } from '../../../platform/hints/hints.ts';
import type { OrganizationId } from '../../../platform/values/ids.ts';
import { Pictures, type KnownPictures } from '../../../platform/memory/pictures.ts';
import { hashViewer, viewerOf, type ViewerIds } from '../../analytics/analytics.ts';
import { ViewerSecrets } from '../../organizations/organizations.ts';
import {
  configurationChanged,
  listConfigurationVersions,
  readBaseValues,
} from '../../settings/settings.ts';
import type { ExperimentType } from '../experiment.ts';
import { experimentsInEffect } from '../running-queries.ts';
import type { Exposures } from './exposures.ts';
import { KnownVariants, nothingKnown } from './known-variants.ts';
import { AssignmentPatience } from './patience.ts';
import {
  assign,
  buildView,
  clientValuesOf,
  emptyOrganizationView,
  rankingObjectiveOf,
  rankingWeightsOf,
  type AssignedVariant,
  type ClientValues,
  type OrganizationView,
} from './view.ts';

/** The viewer of a request. The experiment unit is the user if known, otherwise the device. */
type Viewer = { readonly userId?: string | null; readonly deviceId?: string | null };

export type ExperimentEntry = { readonly experimentId: string; readonly variantId: string };

type AssignmentParts = {
  readonly db: Db;
  readonly exposures: Exposures;
  readonly hints: Hints;
  readonly log: Logger;
};

const pollMs = 500;
const rankingTypes: readonly ExperimentType[] = ['ranking'];
const clientTypes: readonly ExperimentType[] = ['config', 'feature'];

export class Assignments implements AsyncDisposable {
  readonly #db: Db;
  readonly #exposures: Exposures;
  readonly #patience = new AssignmentPatience();
  readonly #known: KnownVariants;
  readonly #secrets = new ViewerSecrets();
  readonly #views: Pictures<OrganizationView>;
  readonly #unlisten: () => void;

  /** Loads nothing: call `refresh` before the first request. */
  constructor({ db, exposures, hints, log }: AssignmentParts) {
    this.#db = db;
    this.#exposures = exposures;
    this.#known = new KnownVariants(db, this.#patience);
    this.#views = new Pictures({
      name: 'assignments',
      log,
      pollMs,
      keeps: 'all',
      load: async () => emptyOrganizationView,
      refresh: (known) => this.#readChanged(known),
    });
    this.#unlisten = hints.listen(configurationChanged, () => {
      this.#views.markChanged();
      void this.#views.settled();
    });
  }

  /**
   * The organization's ranking for a viewer. Records the exposure.
   *
   * @param weightsSetAtMs anything rolled out before this time no longer applies
   */
  async forFeed(
    organizationId: string,
    viewer: Viewer,
    audience: Audience,
    weightsSetAtMs: number,
  ): Promise<{
    experiments: ExperimentEntry[];
    rankingWeights: Record<string, number> | null;
    rankingObjective: 'weights' | 'learned' | null;
  }> {
    // A change is acknowledged before the views are up to date, and its sender may read right away.
    await this.#views.settled();
    const view = this.#view(organizationId);
    const assigned = await this.#assign(organizationId, view, rankingTypes, viewer, audience);
    return {
      experiments: assigned.map(entryOf),
      rankingWeights: rankingWeightsOf(view, assigned, audience, weightsSetAtMs),
      rankingObjective: rankingObjectiveOf(view, assigned, audience, weightsSetAtMs),
    };
  }

  /** Settings and flags for a viewer. Records the exposures. */
  async forClient(
    organizationId: string,
    viewer: Viewer,
    audience: Audience,
  ): Promise<ClientValues & { experiments: ExperimentEntry[] }> {
    await this.#views.settled();
    const view = this.#view(organizationId);
    const assigned = await this.#assign(organizationId, view, clientTypes, viewer, audience);
    return {
      ...clientValuesOf(view, assigned, audience),
      experiments: assigned.map(entryOf),
    };
  }

  refresh(): Promise<void> {
    return this.#views.refresh();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#unlisten();
    await this.#views[Symbol.asyncDispose]();
  }

  #view(organizationId: string): OrganizationView {
    return this.#views.peek(organizationId as OrganizationId) ?? emptyOrganizationView;
  }

  async #assign(
    organizationId: string,
    view: OrganizationView,
    types: readonly ExperimentType[],
    { userId, deviceId }: Viewer,
    audience: Audience,
  ): Promise<AssignedVariant[]> {
    const unit = userId ?? deviceId ?? null;
    const running = view.running.filter(({ type }) => types.includes(type));
    if (unit === null || running.length === 0) return [];
    const keyOf = (ids: ViewerIds) =>
      Buffer.from(hashViewer(this.#secrets, organizationId, viewerOf(ids) ?? ''), 'latin1');
    const ids = userId == null ? { deviceId: unit } : { userId };
    const unitKey = keyOf(ids);
    const viewer = viewerOf(ids) ?? '';
    const deviceKey = userId == null || deviceId == null ? null : keyOf({ deviceId });
    const numbers = running.map(({ number }) => number);
    const known =
      userId == null
        ? nothingKnown
        : await this.#known.of(numbers, view.version, unitKey, deviceKey);
    const nowMs = Date.now();
    const assigned = assign(running, unit, audience, nowMs, known, userId ?? null);
    const { device = null } = audience;
    const country = audience.country?.toUpperCase() ?? null;
    const counted = assigned.filter(({ isForced }) => !isForced);
    const written = counted.flatMap(
      ({ experiment, index }) =>
        this.#exposures.record({
          experimentNumber: experiment.number,
          unitKey,
          viewer,
          deviceKey,
          variant: index,
          atMs: nowMs,
          country,
          device,
        }) ?? [],
    );
    if (written.length > 0) {
      await this.#patience.waitFor(Promise.all(written));
      if (userId != null && deviceKey !== null) this.#known.forget(unitKey);
    }
    return assigned;
  }

  async #readChanged(
    known: KnownPictures<OrganizationView>,
  ): Promise<Map<OrganizationId, OrganizationView | null>> {
    const versions = await listConfigurationVersions(this.#db);
    await this.#secrets.load(this.#db, [...versions.keys()]);
    const changed = new Map<OrganizationId, OrganizationView | null>();
    for (const [organizationId, version] of versions) {
      if (known.get(organizationId)?.version === version) continue;
      const [values, experiments] = await Promise.all([
        readBaseValues(this.#db, organizationId),
        experimentsInEffect(this.#db, organizationId),
      ]);
      // The rows may be newer than the version; the view is then simply reloaded once more.
      changed.set(organizationId, buildView(version, values, experiments));
    }
    for (const id of known.keys()) if (!versions.has(id)) changed.set(id, null);
    return changed;
  }
}

function entryOf({ experiment, variant }: AssignedVariant): ExperimentEntry {
  return { experimentId: experiment.experimentId, variantId: variant.id };
}
