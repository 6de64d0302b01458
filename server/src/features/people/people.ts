/**
 * People: accounts, memberships with roles, invitations and sessions. People authenticate with the
 * console's session; keys are for machines.
 */
export { peopleErrors } from './errors.ts';
export { lowestRole, lowestRoles } from './roles.ts';
export type { PersonSessions } from './sessions.ts';
export { invite, normalEmail } from './invitations.ts';
export { auditEverywhere, createResetLink } from './resets.ts';
export { auditedMember, presentMember, removeMember } from './members.ts';
export { deletePasskeys } from './passkeys/queries.ts';
export { removeTotp } from './second-factor.ts';
export { findAccount, listMembers } from './queries.ts';
