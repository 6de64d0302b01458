/** What a key may be narrowed to: areas of the API, to read or to write. */

/** The area of each first part of a path. A path that is not here needs a key without scopes. */
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
  live: 'live',
  organization: 'organization',
  playlists: 'content',
  purges: 'content',
  ranking: 'feed',
  segments: 'experiments',
  settings: 'settings',
  uploads: 'content',
  users: 'events',
  'webhook-events': 'webhooks',
  webhooks: 'webhooks',
};

const areas = [...new Set(Object.values(areaOfPath))].toSorted();

export const scopes: readonly string[] = areas.flatMap((area) => [`${area}:read`, `${area}:write`]);

/** The scope that a route needs; null when no scope opens it. */
export function scopeOf(method: string, url: string): string | null {
  const [, version, first = ''] = url.split('/');
  const area = version === 'v1' && Object.hasOwn(areaOfPath, first) ? areaOfPath[first] : undefined;
  if (area === undefined) return null;
  return `${area}:${method === 'GET' || method === 'HEAD' ? 'read' : 'write'}`;
}

/** Whether a key with `held` scopes may do what `needed` names. Who may write may read. */
export function covers(held: readonly string[], needed: string): boolean {
  return held.includes(needed) || held.includes(needed.replace(/:read$/, ':write'));
}
