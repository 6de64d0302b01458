/**
 * `unlike` and `unsave` take back what a viewer has told by `like` and `save`; `notInterested` and `report`
 * take themselves back with `data.undo`.
 */
export const eventKinds = [
  'impression',
  'playStart',
  'watchProgress',
  'completion',
  'swipe',
  'like',
  'unlike',
  'share',
  'save',
  'unsave',
  'notInterested',
  'report',
  'rebuffer',
  'qualityChange',
  'error',
] as const;
export type EventKind = (typeof eventKinds)[number];

/** A kind of an app's own, which a metric of its organization has declared. */
export type CustomKind = `custom.${string}`;

/** Custom kinds: up to 64 letters, digits, `_`, `-` and `.` after the prefix. */
export const customKindPattern = '^custom\\.[A-Za-z][A-Za-z0-9_.-]{0,63}$';
const customKindForm = new RegExp(customKindPattern);

export function isCustomKind(kind: string): kind is CustomKind {
  return kind.startsWith('custom.') && customKindForm.test(kind);
}

export type EventDevice = 'ios' | 'android' | 'web';

/**
 * An accepted event as the log keeps it: validated, with the moment and the country that the
 * service has settled on. Whoever reads the log can rely on the required fields of its kind.
 */
export type LoggedEvent = {
  /** As it was given, or made by the service; unique in its organization. */
  readonly eventId: string;
  readonly event: EventKind | CustomKind;
  /** In lower case; `noItem` where an event of a custom kind names none. */
  readonly contentId: string;
  /** When it happened, in milliseconds of the Unix epoch. */
  readonly at: number;
  readonly userId?: string;
  readonly deviceId?: string;
  readonly sessionId?: string;
  /** ISO 3166-1 alpha-2, in upper case. */
  readonly country?: string;
  readonly device?: EventDevice;
  /** The version of the app that sent the event, such as `2.4.1`. */
  readonly appVersion?: string;
  /** A known bot has sent it; left out of what is counted, unless a setting says otherwise. */
  readonly bot?: true;
  /**
   * How crowded the network was that it came from, in doublings; see intake/crowds.ts. Not at all when
   * it is missing. Ranking alone uses this.
   */
  readonly crowd?: number;
  /** An app's server has sent it or signed its `userId`, so the user exists. */
  readonly vouched?: true;
  readonly data: Readonly<Record<string, unknown>>;
};
