/**
 * What each role may do: for every scope of the API, the lowest role. A route may name a role of its own
 * (`config.role`); what no scope opens is for owners. This table is the only place that decides; the
 * authentication of requests enforces it.
 */
import { isAtLeast, type LowestRole, type Role } from '../../platform/http/roles.ts';

export { isAtLeast, roles, type Role } from '../../platform/http/roles.ts';

export const lowestRoles: Readonly<Record<string, Role>> = {
  'content:read': 'viewer',
  'content:write': 'editor',
  'feed:read': 'viewer',
  'feed:write': 'editor',
  'live:read': 'viewer',
  'live:write': 'editor',
  'analytics:read': 'viewer',
  'analytics:write': 'analyst',
  'experiments:read': 'viewer',
  'experiments:write': 'editor',
  'settings:read': 'viewer',
  'settings:write': 'editor',
  'organization:read': 'viewer',
  'organization:write': 'admin',
  // Single events name viewers; writing is speaking for viewers, and erasing them.
  'events:read': 'analyst',
  'events:write': 'admin',
  // URLs and payloads of other systems.
  'webhooks:read': 'admin',
  'webhooks:write': 'admin',
  'keys:read': 'admin',
  'keys:write': 'admin',
  'people:read': 'admin',
  'people:write': 'admin',
  'audit:read': 'admin',
};

export const lowestRole: LowestRole = ({ scope, role }) =>
  role ?? (scope === null ? 'owner' : (lowestRoles[scope] ?? 'owner'));

/** The scopes that a role covers; null: all that there are, and what no scope opens. */
export function scopesOf(role: Role): readonly string[] | null {
  if (role === 'owner') return null;
  return Object.keys(lowestRoles).filter((scope) => isAtLeast(role, lowestRoles[scope] ?? 'owner'));
}
