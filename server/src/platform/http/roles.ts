/** The roles of people, from the one that may do least. The feature `people` says what each may do. */
export const roles = ['viewer', 'analyst', 'editor', 'admin', 'owner'] as const;

export type Role = (typeof roles)[number];

/** Whether a role may do what `lowest` may: each role includes those before it. */
export function isAtLeast(role: Role, lowest: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(lowest);
}

/** What decides the lowest role of a route: what it declares, and its scope. */
export type RoleRule = {
  /** Null: no scope opens it. */
  readonly scope: string | null;
  /** The role that the route itself names, which goes before its scope. */
  readonly role: Role | undefined;
};

/** The lowest role that may call a route. */
export type LowestRole = (rule: RoleRule) => Role;
