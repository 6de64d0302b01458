/**
 * An extension point lets a feature use what others contribute without knowing them. Its owner exports
 * it from its face; a contributing feature lists `extend(point, extension)` in its declaration; the
 * owner gets the extensions of all features, in the order of the list of features.
 */

export type ExtensionPoint<Extension> = {
  readonly name: string;
  /** Never called: it lets the compiler compare the types of extensions. */
  readonly accepts: (extension: Extension) => void;
};

/** @param name what the extensions are, for messages */
export function extensionPoint<Extension>(name: string): ExtensionPoint<Extension> {
  return { name, accepts: () => undefined };
}

/** What a feature contributes to an extension point; see `extend`. */
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

/** Gives all extensions of a point. */
export type ExtensionsOf = <Extension>(point: ExtensionPoint<Extension>) => readonly Extension[];

/** The extensions among all that features contribute. */
export function extensionsAmong(all: readonly Contributed[]): ExtensionsOf {
  return <Extension>(point: ExtensionPoint<Extension>) =>
    // `extend` has checked the type against the point.
    all
      .filter((contributed) => contributed.point === point)
      .map(({ extension }) => extension as Extension);
}
