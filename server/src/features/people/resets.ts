/**
 * Password resets: a link that works once, within an hour. It is sent by mail or created by
 * `reelfeed people reset`.
 *
 * A request does the same for every address: it enqueues a job, and the job looks up the account.
 * Neither the response nor its timing therefore reveals whether the account exists.
 */
import { inTransaction, type Db, type Tx } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/http/errors.ts';
import type { OrganizationId, PersonId } from '../../platform/values/ids.ts';
import { recordAudit, type AuditActor } from '../audit/audit.ts';
import { peopleErrors } from './errors.ts';
import { checkPassword, hashPassword } from './password.ts';
import {
  deleteReset,
  findAccountById,
  listOwnOrganizations,
  lockReset,
  putReset,
  setPassword,
} from './queries.ts';
import { endSessions } from './session-queries.ts';
import { hashToken, newToken } from './tokens.ts';

const resetSeconds = 3_600;

/** Creates a person's reset link; an earlier one becomes invalid. */
export async function createResetLink(
  tx: Tx,
  publicUrl: string,
  personId: PersonId,
): Promise<string> {
  const token = newToken();
  await putReset(tx, personId, hashToken(token), resetSeconds);
  return `${publicUrl}/console/#/new-password/${token}`;
}

/**
 * Sets a new password through a link, and ends all the person's sessions.
 * @throws {ApiError} LINK_OVER, VALIDATION_ERROR
 */
export async function resetPassword(
  db: Db,
  { token, password, requestId }: { token: string; password: string; requestId: string },
): Promise<void> {
  const personId = await inTransaction(db, (tx) => lockReset(tx, hashToken(token)));
  const account = personId && (await findAccountById(db, personId));
  if (personId === null || account === null) throw new ApiError(peopleErrors.LINK_OVER);
  checkPassword(password, account.email);
  const hash = await hashPassword(password);
  await inTransaction(db, async (tx) => {
    // Hashing took a while, so the link may have been used by now.
    if ((await lockReset(tx, hashToken(token))) === null) {
      throw new ApiError(peopleErrors.LINK_OVER);
    }
    await deleteReset(tx, personId);
    await setPassword(tx, personId, hash);
    await endSessions(tx, { personId });
    await auditEverywhere(tx, personId, 'resetPassword', { type: 'person', personId, requestId });
  });
}

/** Records an account change in each of its organizations. */
export async function auditEverywhere(
  tx: Tx,
  personId: PersonId,
  action: string,
  actor: AuditActor,
): Promise<void> {
  for (const { id } of await listOwnOrganizations(tx, personId)) {
    await recordAudit(tx, {
      organizationId: id as OrganizationId,
      actor,
      action,
      resourceId: personId,
    });
  }
}
