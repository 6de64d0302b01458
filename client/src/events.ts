/** Fields that any event may have besides those of its kind. */
export type CommonData = {
  /** Distinguishes several views of the same item in one session. */
  readonly viewId?: string;
  /** Any other data your app needs, stored unchanged. At most 8 KiB of JSON in total. */
  readonly [further: string]: unknown;
};

/**
 * The fields of `data` by kind. Positions and times are in seconds and may be fractional, unless
 * the name or the comment says milliseconds, which are whole.
 */
export type EventDataByKind = {
  impression: {
    /** Place in the feed, starting at 0. */
    readonly position: number;
    readonly entryPoint?: 'feed' | 'search' | 'direct' | 'share';
    /** `feedId` of the feed page. */
    readonly feedId?: string;
  };
  playStart: {
    /** Milliseconds to the first frame. */
    readonly startupTime: number;
    readonly rendition?: string;
    readonly codec?: string;
    /** Whether playback started automatically. */
    readonly autoplay?: boolean;
  };
  watchProgress: {
    readonly currentTime: number;
    readonly duration: number;
    readonly percentComplete?: number;
    readonly rendition?: string;
    /** Time watched so far in this view, not since the previous event. */
    readonly watchTime?: number;
  };
  completion: {
    readonly watchTime: number;
    readonly looped: boolean;
    readonly loopCount?: number;
  };
  /** `contentId` is the item that the viewer swipes to. */
  swipe: {
    readonly fromContentId: string;
    readonly watchTimeOnFrom: number;
    readonly direction?: string;
  };
  like: object;
  /** Reverses the viewer's `like`. */
  unlike: object;
  share: { readonly platform: string };
  save: object;
  /** Reverses the viewer's `save`. */
  unsave: object;
  /** The viewer wants less of the item, its author or its tags; `undo` reverses this. */
  notInterested: { readonly scope: 'item' | 'author' | 'tag'; readonly undo?: boolean };
  /** The viewer reports the item, which is then hidden from that viewer; `undo` reverses this. */
  report: { readonly reason: string; readonly undo?: boolean };
  rebuffer: {
    /** Duration of the stall in milliseconds. */
    readonly duration: number;
    readonly currentTime: number;
    readonly rendition?: string;
  };
  qualityChange: { readonly fromQuality: string; readonly toQuality: string };
  error: { readonly errorCode: string; readonly errorMessage: string };
};

export type EventKind = keyof EventDataByKind;

/** The viewer. Values in an event override those given to the sender. */
export type EventViewer = {
  readonly userId?: string | undefined;
  readonly deviceId?: string | undefined;
  /** Your server's signature of `userId`, by a viewer key. */
  readonly signature?: string | undefined;
  /** Groups the events of one visit. */
  readonly sessionId?: string | undefined;
  /** If omitted, derived from the `User-Agent`. */
  readonly device?: 'ios' | 'android' | 'web' | undefined;
  /** ISO 3166-1 alpha-2. If omitted, taken from the proxy in front of the service. */
  readonly country?: string | undefined;
  /** Version of your app, at most 64 characters; reports can be filtered by it. */
  readonly appVersion?: string | undefined;
};

type EventOf<Kind extends EventKind> = EventViewer & {
  readonly event: Kind;
  readonly contentId: string;
  readonly data: EventDataByKind[Kind] & CommonData;
};

/** Kinds whose `data` has no required fields. */
type BareKind = {
  [Kind in EventKind]: object extends EventDataByKind[Kind] ? Kind : never;
}[EventKind];

/** They need no `data`. */
type BareEvent = EventViewer & {
  readonly event: BareKind;
  readonly contentId: string;
  readonly data?: CommonData;
};

/** A custom kind declared by a metric, such as `custom.purchase`. */
export type CustomKind = `custom.${string}`;

/** An event of a custom kind. The item is optional. */
export type CustomEngagementEvent<Data extends CommonData = CommonData> = EventViewer & {
  readonly event: CustomKind;
  readonly contentId?: string;
  readonly data?: Data;
};

/** An event as tracked by an app. */
export type EngagementEvent =
  | { [Kind in EventKind]: EventOf<Kind> }[Exclude<EventKind, BareKind>]
  | BareEvent;

/** An event with its id and timestamp, which stay the same for every attempt. */
export type TrackedEvent = (EngagementEvent | CustomEngagementEvent) & {
  /** A UUIDv7. Events with the same id count once. */
  readonly eventId: string;
  /** When it was tracked, ISO 8601 in UTC. */
  readonly timestamp: string;
};

/** The number of events by outcome so far. */
export type EventCounts = {
  /** Queued or in flight. */
  readonly waiting: number;
  /** Stored by the service. */
  readonly received: number;
  /** Permanently rejected by the service. */
  readonly refused: number;
  /** Dropped because too many were waiting or the sender was closed. */
  readonly dropped: number;
};
