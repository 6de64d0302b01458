/** The scopes to which a key can be limited: API areas, for reading or writing. */
import type { ScopeOf } from '../../platform/http/scopes.ts';

export type Scopes = {
  readonly names: readonly string[];
  /** The scope that a route requires, or null if no scope permits it. */
  readonly of: ScopeOf;
};

/** @param areaOfPath the area of each path, by its first segment after `/v1/` */
export function createScopes(areaOfPath: Readonly<Record<string, string>>): Scopes {
  const areas = [...new Set(Object.values(areaOfPath))].toSorted();
  return {
    names: areas.flatMap((area) => [`${area}:read`, `${area}:write`]),
    of(method, url) {
      const [, version, first = ''] = url.split('/');
      if (version !== 'v1' || !Object.hasOwn(areaOfPath, first)) return null;
      return `${areaOfPath[first]}:${method === 'GET' || method === 'HEAD' ? 'read' : 'write'}`;
    },
  };
}
