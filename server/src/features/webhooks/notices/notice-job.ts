import type { Db } from '../../../platform/database/database.ts';
import type { OrganizationId } from '../../../platform/values/ids.ts';
import { done, handle, skipped, type HandledJob } from '../../../platform/queue/job-handler.ts';
import { findWebhook, type WebhookRow } from '../endpoints/endpoint-queries.ts';
import { requireWebhookId } from '../endpoints/endpoints.ts';
import type { Mail, SendMail } from './mail.ts';
import { sendNoticeJob, type NoticeKind } from './notices.ts';

export type NoticeParts = { db: Db; publicUrl: string; mail: SendMail | null };

export function noticeHandler({ db, publicUrl, mail }: NoticeParts): HandledJob {
  return handle(sendNoticeJob, async ({ webhookId, kind }, context) => {
    if (mail === null) return skipped('no mail server is configured');
    const organizationId = context.organizationId as OrganizationId;
    const row = await findWebhook(db, organizationId, requireWebhookId(webhookId));
    if (row === null) return skipped('the webhook was removed');
    const to = row.options.notify ?? [];
    if (to.length === 0) return skipped('there are no recipients');
    if (!stillHolds(row, kind)) return skipped('the webhook has recovered');
    await mail({ to, id: `webhook-notice-${context.jobId}`, ...noticeText(row, kind, publicUrl) });
    return done;
  });
}

function stillHolds(row: WebhookRow, kind: NoticeKind): boolean {
  if (kind === 'disabled') return row.disabled_reason === 'failing';
  return row.status === 'active' && row.failing_since !== null;
}

/** Names only the host, because the rest of a URL may contain a token. */
function noticeText(
  row: WebhookRow,
  kind: NoticeKind,
  publicUrl: string,
): Pick<Mail, 'subject' | 'text'> {
  const { host } = new URL(row.url);
  const since = row.failing_since?.toISOString() ?? 'an unknown time';
  const link = `${publicUrl}/console/#/webhooks/${row.webhook_id}`;
  const subject =
    kind === 'failing' ? `Webhook to ${host} is failing` : `Webhook to ${host} was disabled`;
  const what =
    kind === 'failing'
      ? 'Deliveries are retried on the schedule of the webhook. If they keep failing, the webhook is disabled.'
      : 'Nothing is sent to it any more. Once the receiver works again, set the status of the webhook to active and resend the failed deliveries.';
  const text = [
    `All attempts to deliver to ${host} have failed since ${since}.`,
    what,
    `Webhook: ${row.webhook_id}`,
    link,
  ].join('\n\n');
  return { subject, text };
}
