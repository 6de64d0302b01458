/** The roles of people, in ascending order. The feature `people` defines what each role may do. */
export const roles = ['viewer', 'analyst', 'editor', 'admin', 'owner'] as const;

export type Role = (typeof roles)[number];

/** Whether a role includes `lowest`. Each role includes those before it. */
export function isAtLeast(role: Role, lowest: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(lowest);
}

/** The scope and the declaration from which the lowest role of a route follows. */
export type RoleRule = {
  /** Null if no scope opens it. */
  readonly scope: string | null;
  /** The role that the route itself names, which overrides its scope. */
  readonly role: Role | undefined;
};

/** The lowest role that may call a route. */
export type LowestRole = (rule: RoleRule) => Role;
