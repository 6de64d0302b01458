import type { Logger } from 'pino';
import {
  duration,
  integer,
  optional,
  origins,
  retrySchedule,
  smtpUrl,
  text,
} from '../../platform/settings/config-values.ts';
import type { DatabaseConnection, Db } from '../../platform/database/database.ts';
import { followSharedHint, shareHint } from '../../platform/hints/shared-hints.ts';
import type { Egress } from '../../platform/egress/egress.ts';
import { extend, type ExtensionsOf } from '../../platform/feature/extension-point.ts';
import { defineFeature, type FeatureService } from '../../platform/feature/feature.ts';
import type { Hints } from '../../platform/hints/hints.ts';
import { auditedResources } from '../../platform/http/audited-resource.ts';
import type { ListCursors } from '../../platform/http/list-cursor.ts';
import type { Mutations } from '../../platform/idempotency/idempotency.ts';
import { holdOpen } from '../../platform/async/lifecycle.ts';
import type { Metrics } from '../../platform/metrics/metrics.ts';
import { jobAttemptEnded } from '../../platform/queue/queue-workers.ts';
import { setting } from '../../platform/settings/settings.ts';
import { hourMs } from '../../platform/values/time.ts';
import type { Tracing } from '../../platform/tracing/tracing.ts';
import type { Vault } from '../../platform/secrets/vault.ts';
import { addWebhookEventRoutes } from './outbox/event-routes.ts';
import { createCatalogue, describeWebhooks } from './outbox/event-kinds.ts';
import { addDeliveryRoutes } from './deliveries/delivery-routes.ts';
import { webhookErrors } from './errors.ts';
import {
  countWebhookArrivals,
  expireWebhookData,
  prepareWebhookPartitions,
} from './deliveries/maintenance.ts';
import { addWebhookRoutes } from './endpoints/endpoint-routes.ts';
import { defaultSenderTiming, type SenderOptions } from './sending/sender-options.ts';
import { readBodies } from './sending/body-at-sending.ts';
import { startDeliverySender } from './sending/sender.ts';
import { collectDeliveryMetrics, observeDeliveries } from './sending/sending-metrics.ts';
import { auditedWebhook } from './endpoints/audited-webhook.ts';
import { WebhookChanges } from './endpoints/endpoint-changes.ts';
import { deliveriesElsewhere, webhookDeliveries } from './outbox/outbox.ts';
import { openMail } from './notices/mail.ts';
import { noticeFailing } from './notices/notices.ts';
import { noticeHandler } from './notices/notice-job.ts';
import { toPortalRecorder } from './portal/portal-audit.ts';
import { addPortalRoutes } from './portal/portal-routes.ts';
import { endpointEvents } from './webhook-events.ts';
import { webhookEvents } from './outbox/event-declarations.ts';

type Parts = {
  db: Db;
  connection: DatabaseConnection;
  log: Logger;
  metrics: Metrics;
  tracing: Tracing | null;
  cursors: ListCursors;
  mutations: Mutations;
  vault: Vault;
  egress: Egress;
  hints: Hints;
  extensionsOf: ExtensionsOf;
  publicUrl: string;
  /** Whether no other process shares the data directory. */
  ownsDataDirectory: boolean;
};

export const webhooks = defineFeature({
  name: 'webhooks',
  apiTags: {
    Webhooks: 'Notifications to other systems: endpoints, deliveries, attempts.',
  },
  areas: {
    webhooks: 'webhooks',
    'webhook-events': 'webhooks',
    'webhook-portal-links': 'webhooks',
  },
  settings: {
    webhookScheduleMs: setting({
      env: 'REELFEED_WEBHOOK_RETRY_SCHEDULE',
      parse: retrySchedule(),
      fallback: '0s,1m,5m,30m,2h,24h',
      about:
        'Delay before each attempt of a webhook delivery, counted from the end of the previous one. The number of delays is the number of attempts.',
    }),
    webhookRetentionMs: setting({
      env: 'REELFEED_WEBHOOK_RETENTION',
      parse: duration({ min: '1d' }),
      fallback: '30d',
      about: 'How long webhook events and deliveries are kept, in whole days, at least one.',
    }),
    webhookDisableAfterMs: setting({
      env: 'REELFEED_WEBHOOK_DISABLE_AFTER',
      parse: duration(),
      fallback: '5d',
      about: 'A webhook whose attempts have all failed for this long is disabled. 0s: never.',
    }),
    webhookConcurrency: setting({
      env: 'REELFEED_WEBHOOK_CONCURRENCY',
      parse: integer({ min: 1, max: 2_000 }),
      fallback: '256',
      about: 'Maximum number of webhook deliveries that this process sends at the same time.',
    }),
    smtpUrl: setting({
      env: 'REELFEED_SMTP_URL',
      parse: optional(smtpUrl()),
      fallback: '',
      about:
        'Mail server for notices, reports, invitations and new passwords, such as smtps://user:password@mail.example.com:465, or smtp:// with STARTTLS. Empty: no mail is sent.',
      secret: true,
    }),
    mailFrom: setting({
      env: 'REELFEED_MAIL_FROM',
      parse: text(),
      fallback: 'Reelfeed <reelfeed@localhost>',
      about: 'Sender address of mails.',
    }),
    webhookNoticeAfterMs: setting({
      env: 'REELFEED_WEBHOOK_NOTICE_AFTER',
      parse: duration(),
      fallback: '15m',
      about:
        'Recipients are notified by mail once all attempts of a webhook have failed for this long.',
    }),
    portalFrameOrigins: setting({
      env: 'REELFEED_PORTAL_FRAME_ORIGINS',
      parse: origins(),
      fallback: '',
      about:
        'Comma-separated list of origins whose pages may embed the webhook portal in a frame, such as https://app.example.com. Empty: none.',
    }),
  },
  errors: webhookErrors,
  tables: [
    'webhook',
    'webhook_event',
    'webhook_delivery',
    'webhook_delivery_log',
    'webhook_delivery_count',
    'webhook_sender',
    'webhook_arrival',
    'webhook_turn',
    'webhook_portal_link',
  ],
  extensions: [extend(webhookEvents, endpointEvents), extend(auditedResources, auditedWebhook)],
  async build(parts: Parts, settings) {
    const { db, log, metrics, cursors, mutations, vault, egress, hints } = parts;
    const catalogue = createCatalogue(parts.extensionsOf);
    await prepareWebhookPartitions(db);
    const changes = new WebhookChanges();
    const onDue = () => hints.give(webhookDeliveries);
    // A job may have recorded an event.
    hints.listen(jobAttemptEnded, onDue);
    // The owner of a data directory is the only process, so there is none to notify.
    if (!parts.ownsDataDirectory) shareHint(db, hints, webhookDeliveries);
    const { totalTimeoutMs } = defaultSenderTiming;
    const sending: SenderOptions = {
      db,
      log,
      egress,
      vault,
      scheduleMs: settings.webhookScheduleMs,
      concurrency: settings.webhookConcurrency,
      disableAfterMs: settings.webhookDisableAfterMs,
      hints,
      changes,
      isOnlySender: parts.ownsDataDirectory,
      bodyOf: readBodies(db, parts.extensionsOf),
      tracing: parts.tracing,
    };
    const sendMail = openMail(settings);
    return {
      provides: { sendMail },
      routes(app, opened) {
        const hasMail = settings.smtpUrl !== null;
        const base = { db, cursors, mutations, vault, egress, changes, catalogue, onDue };
        const routeParts = { ...base, hasMail };
        addWebhookEventRoutes(app, { db, mutations, catalogue, onDue });
        addWebhookRoutes(app, routeParts);
        addDeliveryRoutes(app, { ...routeParts, totalTimeoutMs }, opened);
        const frameOrigins = settings.portalFrameOrigins;
        const { publicUrl } = parts;
        const recordChange = toPortalRecorder(parts.extensionsOf);
        addPortalRoutes(app, { ...routeParts, publicUrl, frameOrigins, recordChange });
      },
      outgoing: describeWebhooks(catalogue),
      services: [
        { name: 'webhook sender', run: (signal) => runSender(sending, metrics, signal) },
        ...(parts.ownsDataDirectory ? [] : [followOthers(parts)]),
      ],
      jobs: [noticeHandler({ db, publicUrl: parts.publicUrl, mail: sendMail })],
      chores: [
        {
          name: 'notice failing webhooks',
          intervalMs: 5_000,
          run: () => noticeFailing(db, hints, settings.webhookNoticeAfterMs),
        },
        {
          name: 'prepare webhook partitions',
          intervalMs: hourMs,
          run: () => prepareWebhookPartitions(db),
        },
        {
          name: 'count webhook arrivals',
          intervalMs: 1_000,
          run: (signal) => countWebhookArrivals(db, signal),
        },
        {
          name: 'expire webhook data',
          intervalMs: hourMs,
          run: (signal) => expireWebhookData(db, settings.webhookRetentionMs, signal),
        },
      ],
    };
  },
});

/** Wakes the sender for deliveries that other processes made due. */
function followOthers({ connection, log, hints }: Parts): FeatureService {
  const onHint = () => hints.give(deliveriesElsewhere);
  const options = { connection, log, name: webhookDeliveries, onHint };
  return { name: 'webhook hints', run: (signal) => followSharedHint(options, signal) };
}

/** Sends deliveries until the signal aborts. */
async function runSender(
  options: SenderOptions,
  metrics: Metrics,
  signal: AbortSignal,
): Promise<void> {
  const { db } = options;
  await holdOpen(() => {
    const onAttempt = observeDeliveries(metrics);
    const sender = startDeliverySender({ ...options, onAttempt });
    collectDeliveryMetrics(metrics, { db, underWay: () => sender.underWay() });
    return sender;
  }, signal);
}
