/**
 * Combines features into one service. The compiler checks that each feature gets the parts it
 * needs.
 */
import type { Db } from '../platform/database/database.ts';
import { extensionsAmong, type ExtensionsOf } from '../platform/feature/extension-point.ts';
import type { Contribution, EveryFeature, Feature } from '../platform/feature/feature.ts';
import type { Finding } from '../platform/feature/finding.ts';
import type { Projection } from '../platform/projections/projection.ts';
import { eraseFromProjections, purgeFromProjections } from '../platform/projections/upkeep.ts';
import { platformErrors, type ErrorKind } from '../platform/http/errors.ts';
import type { SettingTable } from '../platform/settings/settings.ts';

/** A feature whose parts have already been checked. */
type AnyFeature = Omit<
  Feature<never, SettingTable, Contribution>,
  'build' | 'projections' | 'checks'
> & {
  readonly build: (parts: never, settings: never) => Contribution | Promise<Contribution>;
  readonly checks: Readonly<Record<string, (settings: never) => Promise<readonly Finding[]>>>;
  readonly projections: (
    settings: never,
    extensionsOf: ExtensionsOf,
  ) => readonly Projection<never>[];
};

type Provided<Added> = Added extends { readonly provides: infer Parts } ? Parts : unknown;

export type Composition<Parts, Settings> = {
  readonly list: readonly AnyFeature[];
  /** Adds a feature. It may only require parts that are already provided. */
  add<Declared extends SettingTable, Added extends Contribution>(
    feature: Feature<Parts, Declared, Added>,
  ): Composition<Parts & Provided<Added>, Settings & Declared>;
  /** Builds all features in list order. `config` holds the settings of all of them. */
  build(given: GivenParts<Parts>, config: object): Promise<BuiltFeatures<Parts>>;
};

/**
 * The parts that the caller supplies. `everyFeature` and `extensionsOf` are created here; features
 * provide the rest.
 */
type GivenParts<Parts> = Omit<Partial<Parts>, keyof ComposedParts> & { readonly db: Db };

type ComposedParts = { everyFeature: EveryFeature; extensionsOf: ExtensionsOf };

export type BuiltFeatures<Parts> = {
  readonly parts: Parts;
  readonly contributions: readonly Contribution[];
};

export function composition<Platform extends ComposedParts>(): Composition<Platform, unknown> {
  return compose<Platform, unknown>([]);
}

function compose<Parts, Settings>(list: readonly AnyFeature[]): Composition<Parts, Settings> {
  return {
    list,
    add: (feature) => compose([...list, feature]),
    async build(given, config) {
      const contributions: Contribution[] = [];
      const parts = {
        ...given,
        everyFeature: {
          ...askEvery(given.db, projectionsOf(list, config), contributions),
          areas: apiAreas(list),
        },
        extensionsOf: extensionsOf(list),
      };
      for (const feature of list) {
        // `add` has checked that these parts include everything the feature needs.
        const added = await feature.build(parts as never, config as never);
        contributions.push(added);
        Object.assign(parts, added.provides);
      }
      return { parts: parts as unknown as Parts, contributions };
    },
  };
}

/**
 * `contributions` fills up while features are being built, and is only read once the service runs.
 */
function askEvery(
  db: Db,
  projections: readonly Projection<never>[],
  contributions: readonly Contribution[],
): Omit<EveryFeature, 'areas'> {
  return {
    async eraseViewer(viewer, signal) {
      await eraseFromProjections(db, projections, viewer);
      for (const { eraseViewer } of contributions) await eraseViewer?.(viewer, signal);
    },
    async purgeItems(items, signal) {
      await purgeFromProjections(db, projections, items);
      for (const { purgeItems } of contributions) await purgeItems?.(items, signal);
    },
    fileWriters: () =>
      contributions.flatMap(({ jobs = [] }) =>
        jobs.flatMap(({ name, writesFilesOf: field }) => (field === null ? [] : [{ name, field }])),
      ),
  };
}

/** The projections of all features; `config` holds the settings of all of them. */
export function projectionsOf(
  list: readonly AnyFeature[],
  config: object,
): readonly Projection<never>[] {
  const extensions = extensionsOf(list);
  return list.flatMap(({ projections }) => projections(config as never, extensions));
}

/** The extensions that features contribute to one another. */
export function extensionsOf(list: readonly AnyFeature[]): ExtensionsOf {
  return extensionsAmong(list.flatMap(({ extensions }) => extensions));
}

/** The checks of all features, by subject; `config` holds the settings of all of them. */
export function featureChecks(
  list: readonly AnyFeature[],
  config: object,
): Record<string, () => Promise<readonly Finding[]>> {
  const checks = list.flatMap((feature) => Object.entries(feature.checks));
  return Object.fromEntries(
    checks.map(([subject, check]) => [subject, () => check(config as never)]),
  );
}

/** The error codes of the platform and of all features, without duplicates. */
export function errorCodes(list: readonly AnyFeature[]): string[] {
  return errorKinds(list).map(({ code }) => code);
}

/** The same codes with their meanings. */
export function errorKinds(list: readonly AnyFeature[]): ErrorKind[] {
  return [platformErrors, ...list.map(({ errors }) => errors)].flatMap((errors) =>
    Object.values<ErrorKind>(errors),
  );
}

/** The descriptions of all route groups, in list order. */
export function apiTags(list: readonly AnyFeature[]): Record<string, string> {
  return Object.assign({}, ...list.map((feature) => feature.apiTags)) as Record<string, string>;
}

/** The areas of the API, keyed by the first path segments. */
export function apiAreas(list: readonly AnyFeature[]): Record<string, string> {
  return Object.assign({}, ...list.map(({ areas }) => areas)) as Record<string, string>;
}

/** The settings of all features as one table. */
export function featureSettings(list: readonly AnyFeature[]): SettingTable {
  return Object.assign({}, ...list.map(({ settings }) => settings)) as SettingTable;
}
