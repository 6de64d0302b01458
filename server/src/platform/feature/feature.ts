/**
 * A feature is one declaration: what it adds to the configuration, the error catalogue and the
 * database, and how it is built from the parts it needs.
 *
 * `build` names those parts in the type of its first parameter, `{ db, mutations }` for example.
 * Parts come from the platform or from the `provides` of an earlier feature in the list of
 * `app/features.ts`; asking for anything else is a type error in that list. `build` runs in every
 * process, regardless of its roles; what it returns is started only in processes with the right
 * role.
 */
import type { ProcessRole } from '../settings/config.ts';
import type { ErrorKind } from '../http/errors.ts';
import type { Contributed, ExtensionsOf } from './extension-point.ts';
import type { Finding } from './finding.ts';
import type { HttpApp } from '../http/app.ts';
import type { ElectedChore } from '../leases/elected-chore.ts';
import type { Projection } from '../projections/projection.ts';
import type { HandledJob } from '../queue/job-handler.ts';
import type { SettingTable, SettingValues } from '../settings/settings.ts';

/** The roles of the processes that run it. Default: `worker`. */
type ForRoles = { readonly roles?: readonly ProcessRole[] };

/**
 * Periodic work. One process does it for the whole cluster, but it may be interrupted, and
 * occasionally two processes run it at once.
 */
export type Chore = ForRoles &
  ElectedChore & {
    /** For state in a process's memory or on its disk: each process does its own work. */
    readonly isLocal?: boolean;
  };

/**
 * A long-running service. `run` is called once, and again after a growing delay if it fails. It
 * returns after the signal has aborted and everything has been released.
 */
export type FeatureService = ForRoles & {
  readonly name: string;
  readonly run: (signal: AbortSignal) => Promise<void>;
};

export type Viewer = { readonly organizationId: string; readonly userId: string };

/** Removes what the feature stores about a viewer outside its projections. Must be idempotent. */
export type EraseViewer = (viewer: Viewer, signal: AbortSignal) => Promise<void>;

export type DeletedItem = {
  readonly organizationId: string;
  readonly contentId: string;
  /** Identifies items in places where a UUID would take too much space. */
  readonly serialNumber: number;
};

/**
 * Removes what the feature stores about deleted items, except its projections and rows that are
 * deleted together with their `content` row. The event log no longer contains the items. There may
 * be thousands at once. Must be idempotent.
 */
export type PurgeItems = (items: readonly DeletedItem[], signal: AbortSignal) => Promise<void>;

/** What a feature adds to the service. */
export type Contribution = {
  /**
   * Adds the routes. Called only in processes with the role `api`. Resources added to `opened` are
   * disposed of once the last request has been answered.
   */
  readonly routes?: (app: HttpApp, opened: AsyncDisposableStack) => void | Promise<void>;
  /** Requests that the service sends to others: the section `webhooks` of the API description. */
  readonly outgoing?: Readonly<Record<string, object>>;
  readonly jobs?: readonly (HandledJob & ForRoles)[];
  readonly chores?: readonly Chore[];
  readonly services?: readonly FeatureService[];
  readonly eraseViewer?: EraseViewer;
  readonly purgeItems?: PurgeItems;
  /** Parts for later features in the list. */
  readonly provides?: object;
  /** Disposed of at the end, when no other part of the service is running. */
  readonly resources?: readonly (AsyncDisposable | Disposable)[];
};

export type Feature<Parts, Settings extends SettingTable, Added extends Contribution> = {
  readonly name: string;
  readonly settings: Settings;
  readonly errors: Readonly<Record<string, ErrorKind>>;
  /** A one-sentence description of each group of its routes, for the API description. */
  readonly apiTags: Readonly<Record<string, string>>;
  /**
   * The API area of its paths, by their first segment after `/v1/`. Keys can be limited to reading
   * or writing in an area; a path without one needs a key without scopes.
   */
  readonly areas: Readonly<Record<string, string>>;
  /** The tables that it owns. No other feature runs SQL on them. */
  readonly tables: readonly string[];
  /** Its contributions to other features: `extend(point, extension)` for each. */
  readonly extensions: readonly Contributed[];
  /**
   * Its checks for `reelfeed doctor`, by subject. They run whether or not the service is running.
   */
  readonly checks: Readonly<
    Record<string, (settings: SettingValues<Settings>) => Promise<readonly Finding[]>>
  >;
  /**
   * Its projections of the event log. The service keeps them up to date and handles erasure,
   * purging and expiry.
   */
  readonly projections: (
    settings: SettingValues<Settings>,
    extensionsOf: ExtensionsOf,
  ) => readonly Projection<never>[];
  readonly build: (parts: Parts, settings: SettingValues<Settings>) => Added | Promise<Added>;
};

type Definition<Parts, Settings extends SettingTable, Added extends Contribution> = Pick<
  Feature<Parts, Settings, Added>,
  'name' | 'build'
> &
  Partial<Feature<Parts, Settings, Added>>;

export function defineFeature<
  Parts,
  Added extends Contribution,
  Settings extends SettingTable = Readonly<Record<string, never>>,
>(definition: Definition<Parts, Settings, Added>): Feature<Parts, Settings, Added> {
  return {
    settings: {} as Settings,
    errors: {},
    apiTags: {},
    areas: {},
    tables: [],
    extensions: [],
    checks: {},
    projections: () => [],
    ...definition,
  };
}

/** A job that writes files of an item. A field of its payload has the item's id. */
export type FileWriter = { readonly name: string; readonly field: string };

/**
 * Services combined from all features, which a feature can use without knowing any of the others.
 */
export type EveryFeature = {
  readonly eraseViewer: EraseViewer;
  readonly purgeItems: PurgeItems;
  /** The jobs of all features that write files of items. */
  readonly fileWriters: () => readonly FileWriter[];
  /** The areas of the API, keyed by the first path segments. */
  readonly areas: Readonly<Record<string, string>>;
};
