/** Mails with invitation and password reset links. */
import { Type } from 'typebox';
import { inTransaction, type Db } from '../../platform/database/database.ts';
import { parseTypeId } from '../../platform/values/ids.ts';
import { defineJob, doublingDelay } from '../../platform/queue/job-definition.ts';
import { done, handle, skipped, type HandledJob } from '../../platform/queue/job-handler.ts';
import type { Vault } from '../../platform/secrets/vault.ts';
import type { SendMail } from '../webhooks/webhooks.ts';
import { findSealedToken } from './invitation-queries.ts';
import { invitationUrl, sealContext } from './invitations.ts';
import { findAccount } from './queries.ts';
import { createResetLink } from './resets.ts';

const retry = { maxAttempts: 6, delayMs: doublingDelay(10_000, 600_000) };

export const sendInvitationJob = defineJob({
  name: 'send-invitation',
  payload: Type.Object({ invitationId: Type.String() }),
  timeoutMs: 60_000,
  retry,
  concurrency: 2,
  sharesPlaces: true,
});

export const sendResetJob = defineJob({
  name: 'send-password-reset',
  payload: Type.Object({ email: Type.String() }),
  timeoutMs: 60_000,
  retry,
  concurrency: 2,
  sharesPlaces: true,
});

type MailParts = { db: Db; vault: Vault; publicUrl: string; mail: SendMail | null };

export function mailHandlers({ db, vault, publicUrl, mail }: MailParts): HandledJob[] {
  return [
    handle(sendInvitationJob, async (payload, { jobId }) => {
      if (mail === null) return skipped('no mail server is configured');
      const invitationId = parseTypeId('inv', payload.invitationId);
      const found = invitationId && (await findSealedToken(db, invitationId));
      if (invitationId === null || found === null) return skipped('the invitation has expired');
      const token = vault.open(found.sealed, sealContext(invitationId));
      await mail({
        to: [found.email],
        id: `invitation-${jobId}`,
        subject: `Your invitation to ${found.organizationName}`,
        text: [
          `You are invited to ${found.organizationName} on Reelfeed. This link works once and expires in a week:`,
          invitationUrl(publicUrl, token),
          'If you did not expect this invitation, you can ignore this email.',
        ].join('\n\n'),
      });
      return done;
    }),
    handle(sendResetJob, async ({ email }, { jobId }) => {
      if (mail === null) return skipped('no mail server is configured');
      const account = await findAccount(db, email);
      if (account === null) return skipped('the address has no account');
      const url = await inTransaction(db, (tx) => createResetLink(tx, publicUrl, account.personId));
      await mail({
        to: [account.email],
        id: `password-reset-${jobId}`,
        subject: 'Set a new Reelfeed password',
        text: [
          'Use this link to set a new password. It works once and expires in an hour:',
          url,
          'If you did not request this, you can ignore this email. Nothing has changed.',
        ].join('\n\n'),
      });
      return done;
    }),
  ];
}
