/** Fields that any event may have beside those of its kind. */
export type CommonData = {
  /** Tells several views of the same item in one session apart. */
  readonly viewId?: string;
  /** Whatever else your app wants to know; kept as it is. At most 8 KiB of JSON in all. */
  readonly [further: string]: unknown;
};

/**
 * The fields of `data` by kind. Positions and times are in seconds and may have a fraction, unless
 * the name or the comment says milliseconds: those are whole.
 */
export type EventDataByKind = {
  impression: {
    /** Place in the feed, the first is 0. */
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
    /** Whether it started by itself. */
    readonly autoplay?: boolean;
  };
  watchProgress: {
    readonly currentTime: number;
    readonly duration: number;
    readonly percentComplete?: number;
    readonly rendition?: string;
    /** Watched in this view so far, not since the event before. */
    readonly watchTime?: number;
  };
  completion: {
    readonly watchTime: number;
    readonly looped: boolean;
    readonly loopCount?: number;
  };
  /** `contentId` is the item that the viewer comes to. */
  swipe: {
    readonly fromContentId: string;
    readonly watchTimeOnFrom: number;
    readonly direction?: string;
  };
  like: object;
  /** Takes the viewer's `like` back. */
  unlike: object;
  share: { readonly platform: string };
  save: object;
  /** Takes the viewer's `save` back. */
  unsave: object;
  /** The viewer wants less of the item, its author or its tags; `undo` takes it back. */
  notInterested: { readonly scope: 'item' | 'author' | 'tag'; readonly undo?: boolean };
  /** The viewer reports the item, which is not shown to that viewer again; `undo` takes it back. */
  report: { readonly reason: string; readonly undo?: boolean };
  rebuffer: {
    /** Milliseconds of the stall. */
    readonly duration: number;
    readonly currentTime: number;
    readonly rendition?: string;
  };
  qualityChange: { readonly fromQuality: string; readonly toQuality: string };
  error: { readonly errorCode: string; readonly errorMessage: string };
};

export type EventKind = keyof EventDataByKind;

/** Who watches. An event that says it itself goes before what the sender was made with. */
export type EventViewer = {
  readonly userId?: string | undefined;
  readonly deviceId?: string | undefined;
  /** Your server's signature of `userId`, by a viewer key. */
  readonly signature?: string | undefined;
  /** Groups what belongs to one visit. */
  readonly sessionId?: string | undefined;
  /** Left out: from the `User-Agent`. */
  readonly device?: 'ios' | 'android' | 'web' | undefined;
  /** ISO 3166-1 alpha-2. Left out: from the proxy in front of the service. */
  readonly country?: string | undefined;
  /** Version of your app, at most 64 characters; reports can be filtered by it. */
  readonly appVersion?: string | undefined;
};

type EventOf<Kind extends EventKind> = EventViewer & {
  readonly event: Kind;
  readonly contentId: string;
  readonly data: EventDataByKind[Kind] & CommonData;
};

type BareKind = 'like' | 'unlike' | 'save' | 'unsave';

/** Kinds without fields of their own need no `data`. */
type BareEvent = EventViewer & {
  readonly event: BareKind;
  readonly contentId: string;
  readonly data?: CommonData;
};

/** A kind of your own, which a metric has declared: `custom.purchase`. */
export type CustomKind = `custom.${string}`;

/** An event of a kind of your own. It may be about an item or not. */
export type CustomEngagementEvent<Data extends CommonData = CommonData> = EventViewer & {
  readonly event: CustomKind;
  readonly contentId?: string;
  readonly data?: Data;
};

/** What an app says: what happened, to which item. */
export type EngagementEvent =
  | { [Kind in EventKind]: EventOf<Kind> }[Exclude<EventKind, BareKind>]
  | BareEvent;

/** The event as it is sent, however often. */
export type TrackedEvent = (EngagementEvent | CustomEngagementEvent) & {
  /** A UUID of version 7. It makes the event count once. */
  readonly eventId: string;
  /** When it was tracked, ISO 8601 in UTC. */
  readonly timestamp: string;
};

/** What has become of the events so far. */
export type EventCounts = {
  /** Waiting for their turn or for an answer. */
  readonly waiting: number;
  /** Stored by the service. */
  readonly received: number;
  /** Refused by the service for good. */
  readonly refused: number;
  /** Given up, because too many waited or the sender was closed. */
  readonly dropped: number;
};
