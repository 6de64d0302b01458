/** The scopes that a key can be limited to: areas of the API, for reading or writing. */
import type { ScopeOf } from '../../platform/http/scopes.ts';

/**
 * The area of each path, by its first segment. A path that is missing here needs a key without
 * scopes.
 */
const areaOfPath: Record<string, string> = {
  analytics: 'analytics',
  audit: 'audit',
  config: 'settings',
  content: 'content',
  events: 'events',
  experiments: 'experiments',
  exports: 'analytics',
  feed: 'feed',
  flags: 'settings',
  keys: 'keys',
  'live-streams': 'live',
  organization: 'organization',
  playlists: 'content',
  purges: 'content',
  ranking: 'feed',
  settings: 'settings',
  uploads: 'content',
  users: 'events',
  'webhook-events': 'webhooks',
  webhooks: 'webhooks',
};

const areas = [...new Set(Object.values(areaOfPath))].toSorted();

export const scopes: readonly string[] = areas.flatMap((area) => [`${area}:read`, `${area}:write`]);

/** The scope that a route needs; null when no scope opens it. */
export const scopeOf: ScopeOf = (method, url) => {
  const [, version, first = ''] = url.split('/');
  const area = version === 'v1' && Object.hasOwn(areaOfPath, first) ? areaOfPath[first] : undefined;
  if (area === undefined) return null;
  return `${area}:${method === 'GET' || method === 'HEAD' ? 'read' : 'write'}`;
};
