/**
 * What viewers are given, decided from memory. Each process holds a view of every organization that
 * has settings or experiments; it compares versions twice a second, and at once after a change of its
 * own. A viewer's assignment needs no view to stay the same: it is a pure function of ids, and of what
 * a viewer who has signed in was given before (`known-variants.ts`).
 */
import type { Logger } from 'pino';
import type { Audience } from '@reelfeed/client/assignment';
import type { Db } from '../../../platform/database/database.ts';
import { background } from '../../../platform/lifecycle.ts';
import { Doorbell, type Hints } from '../../../platform/hints.ts';
import { hashViewer, viewerOf, type ViewerIds } from '../../analytics/analytics.ts';
import { ViewerSecrets } from '../../organizations/organizations.ts';
import {
  configurationChanged,
  listConfigurationVersions,
  readBaseValues,
} from '../../settings/settings.ts';
import type { ExperimentType } from '../experiment.ts';
import { experimentsInEffect } from '../queries.ts';
import type { Exposures } from './exposures.ts';
import { KnownVariants, nothingKnown } from './known-variants.ts';
import {
  assign,
  buildView,
  clientValuesOf,
  emptyView,
  rankingWeightsOf,
  type AssignedVariant,
  type ClientValues,
  type OrganizationView,
} from './view.ts';

/** Whom a request is about. The unit of experiments is the user, else the device. */
export type Viewer = { readonly userId?: string | null; readonly deviceId?: string | null };

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
  readonly #known: KnownVariants;
  readonly #secrets = new ViewerSecrets();
  readonly #views = new Map<string, OrganizationView>();
  readonly #bell = new Doorbell();
  readonly #loop: AsyncDisposable;
  readonly #unlisten: () => void;
  #loading: Promise<void> | null = null;
  #changing: Promise<void> | null = null;

  /** Loads nothing: call `refresh` before the first request. */
  constructor({ db, exposures, hints, log }: AssignmentParts) {
    this.#db = db;
    this.#exposures = exposures;
    this.#known = new KnownVariants(db);
    this.#loop = background('assignments', (signal) => this.#run(signal), log);
    this.#unlisten = hints.listen(configurationChanged, () => {
      // A load that fails is tried again by the loop.
      void this.refresh().catch(() => undefined);
    });
  }

  /**
   * The organization's ranking for a viewer; records the exposure.
   *
   * @param weightsSetAtMs what was rolled out before is no longer in effect
   */
  async forFeed(
    organizationId: string,
    viewer: Viewer,
    audience: Audience,
    weightsSetAtMs: number,
  ): Promise<{ experiments: ExperimentEntry[]; rankingWeights: Record<string, number> | null }> {
    await this.#settled();
    const view = this.#view(organizationId);
    const assigned = await this.#assign(organizationId, view, rankingTypes, viewer, audience);
    return {
      experiments: assigned.map(entryOf),
      rankingWeights: rankingWeightsOf(view, assigned, audience, weightsSetAtMs),
    };
  }

  /** Settings and flags for a viewer; records the exposures. */
  async forClient(
    organizationId: string,
    viewer: Viewer,
    audience: Audience,
  ): Promise<ClientValues & { experiments: ExperimentEntry[] }> {
    await this.#settled();
    const view = this.#view(organizationId);
    const assigned = await this.#assign(organizationId, view, clientTypes, viewer, audience);
    return {
      ...clientValuesOf(view, assigned, audience),
      experiments: assigned.map(entryOf),
    };
  }

  /** Updates the cached views. Call it after a change is committed. */
  refresh(): Promise<void> {
    const refreshing = this.#refresh().finally(() => {
      if (this.#changing === refreshing) this.#changing = null;
    });
    this.#changing = refreshing;
    return refreshing;
  }

  /**
   * Resolves when this process knows of its own changes: the answer to a change is sent before the
   * views are up to date, and who has it may ask at once. Usually there is nothing to wait for.
   */
  async #settled(): Promise<void> {
    // Without the database, what was known before is the best there is.
    await this.#changing?.catch(() => undefined);
  }

  async #refresh(): Promise<void> {
    // A load under way may have begun before the change that this one is for.
    await this.#loading?.catch(() => undefined);
    this.#loading ??= this.#load().finally(() => {
      this.#loading = null;
    });
    await this.#loading;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#unlisten();
    await this.#loop[Symbol.asyncDispose]();
  }

  #view(organizationId: string): OrganizationView {
    return this.#views.get(organizationId) ?? emptyView;
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
    const unitKey = keyOf(userId == null ? { deviceId: unit } : { userId });
    const deviceKey = userId == null || deviceId == null ? null : keyOf({ deviceId });
    const numbers = running.map(({ number }) => number);
    const known =
      userId == null
        ? nothingKnown
        : await this.#known.of(numbers, view.version, unitKey, deviceKey);
    const nowMs = Date.now();
    const assigned = assign(running, unit, audience, nowMs, known);
    const { device = null } = audience;
    const country = audience.country?.toUpperCase() ?? null;
    let isSignIn = false;
    for (const { experiment, index } of assigned) {
      const isWaiting = this.#exposures.record({
        experimentNumber: experiment.number,
        unitKey,
        deviceKey,
        variant: index,
        atMs: nowMs,
        country,
        device,
      });
      if (isWaiting && known.get(experiment.number)?.isOwn === false) isSignIn = true;
    }
    // Another process may see the user next, and finds the variant of the device only as a row.
    if (isSignIn) await this.#exposures.flush().catch(() => undefined);
    return assigned;
  }

  async #run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#refresh();
      await this.#bell.wait(pollMs, signal);
    }
  }

  async #load(): Promise<void> {
    const versions = await listConfigurationVersions(this.#db);
    await this.#secrets.load(this.#db, [...versions.keys()]);
    for (const [organizationId, version] of versions) {
      if (this.#view(organizationId).version === version) continue;
      const [values, experiments] = await Promise.all([
        readBaseValues(this.#db, organizationId),
        experimentsInEffect(this.#db, organizationId),
      ]);
      // What was read may be newer than the version; then it is read once more.
      this.#views.set(organizationId, buildView(version, values, experiments));
    }
    for (const organizationId of this.#views.keys()) {
      if (!versions.has(organizationId)) this.#views.delete(organizationId);
    }
  }
}

function entryOf({ experiment, variant }: AssignedVariant): ExperimentEntry {
  return { experimentId: experiment.experimentId, variantId: variant.id };
}
