/**
 * An extension point lets a feature use contributions of other features without knowing them. Its
 * owner exports the point. A contributing feature lists `extend(point, extension)` in its
 * declaration, and the owner gets the extensions of all features, in the order of the feature list.
 */

export type ExtensionPoint<Extension> = {
  readonly name: string;
  /** Never called: it lets the compiler compare the types of extensions. */
  readonly accepts: (extension: Extension) => void;
};

/** @param name describes the extensions in messages */
export function extensionPoint<Extension>(name: string): ExtensionPoint<Extension> {
  return { name, accepts: () => undefined };
}

/** A feature's contribution to an extension point; see `extend`. */
export type Contributed = {
  readonly point: ExtensionPoint<never>;
  readonly extension: unknown;
};

export function extend<Extension>(
  point: ExtensionPoint<Extension>,
  extension: Extension,
): Contributed {
  return { point, extension };
}

export type ExtensionsOf = <Extension>(point: ExtensionPoint<Extension>) => readonly Extension[];

/** Collects extensions from the contributions of all features. */
export function extensionsAmong(all: readonly Contributed[]): ExtensionsOf {
  return <Extension>(point: ExtensionPoint<Extension>) =>
    // `extend` has checked the type against the point.
    all
      .filter((contributed) => contributed.point === point)
      .map(({ extension }) => extension as Extension);
}
