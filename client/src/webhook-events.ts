/** The content of the service's webhooks. */

/** An accepted event in its forwarded form. */
export type ForwardedEvent = {
  /** Unique in the organization: use it to skip events you have already handled. */
  eventId: string;
  event: string;
  contentId: string;
  timestamp: string;
  receivedAt: string;
  userId?: string;
  deviceId?: string;
  sessionId?: string;
  country?: string;
  device?: string;
  appVersion?: string;
  /** Sent by a known bot. */
  bot?: true;
  data: Readonly<Record<string, unknown>>;
};

/** The `data` of each kind of event; `GET /v1/webhook-events` has the schemas. */
export type WebhookEventData = {
  'content.ready': {
    contentId: string;
    title: string;
    /** Seconds. */
    duration: number | null;
    status: 'ready';
  };
  'content.errored': {
    contentId: string;
    title: string;
    status: 'error';
    error: { code: string; message: string };
  };
  'content.import.finished': {
    importId: string;
    totalItems: number;
    readyItems: number;
    failedItems: number;
    /** Excludes items that have since been deleted. */
    items: {
      contentId: string;
      externalId: string | null;
      status: 'ready' | 'error';
      error: { code: string; message: string } | null;
    }[];
    createdAt: string;
  };
  'export.ready': {
    exportId: string;
    status: string;
    format: string;
    downloadUrl: string;
    expiresAt: string;
    rowCount: number;
    /** Bytes. */
    fileSize: number;
  };
  'bulk_job.complete': {
    jobId: string;
    status: string;
    operation: string;
    totalItems: number;
    processedItems: number;
    successfulItems: number;
    failedItems: number;
    createdAt: string | null;
    completedAt?: string | null;
  };
  'experiment.guardrail_harmed': {
    experimentId: string;
    name: string;
    metric: string;
    /** The id of the variant. */
    variant: string;
    /** The share of the control's value by which the metric may get worse. */
    margin: number;
    /** Relative to the control. */
    lift: number;
    liftInterval: number[];
    harmedAt: string;
  };
  'experiment.completed': {
    experimentId: string;
    name: string;
    status: 'completed';
    startedAt: string | null;
    completedAt: string;
    winner: string | null;
  };
  'live_stream.active': {
    liveStreamId: string;
    contentId: string;
    title: string;
    status: 'active';
    startedAt: string;
  };
  'live_stream.disconnected': {
    liveStreamId: string;
    contentId: string;
    title: string;
    status: 'active';
    disconnectedAt: string;
  };
  'live_stream.reconnected': {
    liveStreamId: string;
    contentId: string;
    title: string;
    status: 'active';
    disconnectedAt: string;
  };
  'live_stream.ended': {
    liveStreamId: string;
    contentId: string;
    title: string;
    status: 'ended';
    startedAt: string | null;
    endedAt: string;
  };
  'analytics.alert': {
    alertId: string;
    name: string;
    state: 'opened' | 'resolved';
    /** `changed`, `paused`: someone has changed or deleted the alert. */
    reason: 'breached' | 'recovered' | 'changed' | 'paused';
    report: 'overview' | 'quality' | 'engagement';
    metric: string;
    value: number | null;
    /** The bounds of the normal range; null if unbounded. */
    low: number | null;
    high: number | null;
    windowEnd: string | null;
    url: string;
  };
  'analytics.report': {
    reportId: string;
    runId: string;
    name: string;
    report:
      | 'overview'
      | 'audience'
      | 'content'
      | 'engagement'
      | 'quality'
      | 'retention'
      | 'movers'
      | 'sources'
      | 'viewers'
      | 'hours';
    startDate: string;
    endDate: string;
    /** Null for a run on request. */
    dueAt: string | null;
    asOf: string;
    url: string;
    /** The data of the report; null above 64 KiB. */
    data: object | null;
  };
  'events.batch': {
    forwardingId: string;
    events: ForwardedEvent[];
  };
  /** Only for webhooks that name `audit.recorded` or `audit.*`. */
  'audit.recorded': {
    auditId: string;
    action: string;
    actor: {
      type: 'key' | 'person' | 'command_line' | 'service';
      keyId: string | null;
      personId: string | null;
      systemUser: string | null;
    };
    resourceId: string | null;
    requestId: string | null;
  };
  'webhook.disabled': {
    webhookId: string;
    host: string;
    description: string | null;
    reason: 'failing';
    failingSince: string;
    disabledAt: string;
  };
};

/** A verified delivery of any known kind: `event` determines the type of `data`. */
export type KnownWebhookEvent = {
  [Kind in keyof WebhookEventData]: WebhookEvent<WebhookEventData[Kind]> & { readonly event: Kind };
}[keyof WebhookEventData];

/** A verified delivery. */
export type WebhookEvent<Data = unknown> = {
  readonly event: string;
  readonly data: Data;
  /** When it happened, ISO 8601. */
  readonly timestamp: string;
  readonly webhookId: string;
  /** Present from payload version 2 on. */
  readonly version?: 2;
  /**
   * The id of the event, the same for each webhook that receives it. Payload version 2 and later.
   */
  readonly id?: string;
  /** Not a real event, but a test delivery or an event that was triggered manually. */
  readonly test?: true;
  /**
   * The same on every attempt. A delivery may arrive more than once: use this to skip duplicates.
   */
  readonly deliveryId: string;
};
