/**
 * Permissions: the lowest role for every API scope. A route may require another role
 * (`config.role`); routes without a scope are for owners. Only this table decides; request
 * authentication enforces it.
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
  // Individual events identify viewers; writing acts on behalf of viewers and can erase them.
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

/** The scopes that a role includes; null means all of them plus routes without a scope. */
export function scopesOf(role: Role): readonly string[] | null {
  if (role === 'owner') return null;
  return Object.keys(lowestRoles).filter((scope) => isAtLeast(role, lowestRoles[scope] ?? 'owner'));
}
