/** Scopes limit a key to areas of the API. The feature `keys` defines them. */

/**
 * Returns the scope that a route needs, by its method and path pattern, or null if no scope permits
 * it.
 */
export type ScopeOf = (method: string, url: string) => string | null;

/**
 * Returns whether the `held` scopes include the `needed` one. A write scope includes the read
 * scope.
 */
export function covers(held: readonly string[], needed: string): boolean {
  return held.includes(needed) || held.includes(needed.replace(/:read$/, ':write'));
}
