/**
 * Labels are event values that reports list or filter by. Anyone with the publishable key can send
 * any text in their place, including personal ids. Only texts that are plausible for their field
 * become labels; all others are counted as `other`.
 */
export type LabelField =
  | 'entryPoint'
  | 'rendition'
  | 'codec'
  | 'errorCode'
  | 'appVersion'
  | 'sharePlatform'
  | 'feedId';

export const otherLabel = 'other';

export const entryPoints = ['feed', 'search', 'direct', 'share', otherLabel] as const;

type KnownLabels = {
  /**
   * Values of a fixed vocabulary. They never identify a person, even if they equal someone's id.
   */
  readonly fixed: RegExp;
  /** Values of an open set, recognized by a shape that ids don't have. */
  readonly shaped: RegExp;
};

const none = /(?!)/;

/** Migration 0105 contains the same expressions. */
const known: Readonly<Record<LabelField, KnownLabels>> = {
  entryPoint: { fixed: /^(?:feed|search|direct|share|other)$/, shaped: none },
  rendition: {
    // Common picture heights, with an optional frame rate, and names of qualities.
    fixed:
      /^(?:(?:144|180|216|234|240|270|288|320|360|396|400|404|416|432|450|468|480|486|504|540|544|576|600|640|648|720|768|800|832|900|960|1080|1152|1200|1280|1440|1600|1920|2160|2880|3840|4320)(?:p(?:24|25|30|48|50|60|90|100|120)?)?|auto|source|original|low|medium|high|sd|hd|fhd|qhd|uhd|[248]k)$/i,
    shaped: /^\d{2,4}x\d{2,4}$/,
  },
  codec: {
    fixed:
      /^(?:h\.?26[3456]|avc[1-4]?|hevc|hvc1|hev1|vvc1?|dvh1|dvhe|av1|av01|vp8|vp9|vp08|vp09|theora|prores|mpeg-?[24]|mp4v|mp4a|aac|opus|mp3|flac|vorbis|e?-?ac-?3)$/i,
    // RFC 6381: a video codec with its parameters, optionally followed by an audio codec.
    shaped:
      /^(?:avc[1-4]\.[\da-f]{6}|(?:hvc1|hev1|dvh1|dvhe|vvc1)(?:\.[\da-z]{1,8}){2,10}|av01(?:\.[\da-z]{1,4}){3,9}|vp0[89](?:\.\d{2}){3,8}|mp4[av]\.[\da-f]{2}(?:\.\d{1,3})?)(?:, ?(?:mp4a\.[\da-f]{2}(?:\.\d{1,2})?|opus|ac-3|ec-3|flac))?$/i,
  },
  errorCode: {
    // Error numbers of MediaError, HTTP, ExoPlayer and Core Media.
    fixed:
      /^(?:-?\d{1,4}|-\d{5}|network|decode|media|timeout|aborted|offline|drm|unsupported|stalled|unknown)$/i,
    // NAMES_OF_CONSTANTS, and names with the usual endings of errors.
    shaped:
      /^(?:[A-Z]+\d{0,4}(?:_(?:[A-Z]+\d{0,4}|\d{1,4}))*|[A-Za-z]*(?:Error|Exception|Time[Oo]ut|Failed|Failure|Aborted)|[a-z]+(?:[-_.][a-z]+)*[-_.](?:error|exception|timeout|failed|failure|aborted))$/,
  },
  appVersion: {
    fixed: /^\d{1,4}$/,
    // 2.4, 2.4.1, v2.4.1-beta.3, ios-2.4.1+77, 2.4.1 (build 77)
    shaped:
      /^(?:[a-z]{1,16}[-/ @])?v?\d{1,4}(?:\.\d{1,6}){1,3}(?:[-+][\da-z][\da-z.+-]{0,23})?(?: \((?:build )?[\d.]{1,12}\))?$/i,
  },
  sharePlatform: {
    fixed:
      /^(?:(?:copy|copied)?[_-]?(?:link|url)|copy|clipboard|messages?|sms|imessage|e-?mail|gmail|whats_?app|instagram(?:[_-](?:stories|dm))?|facebook|messenger|threads|twitter|x|tik_?tok|snapchat|telegram|signal|viber|line|kakao(?:talk)?|wechat|weibo|qq|vk|discord|slack|teams|linkedin|xing|reddit|tumblr|pinterest|youtube|bluesky|mastodon|airdrop|nearby|bluetooth|embed|qr(?:[_-]code)?|system|native|sheet|social|more|other)$/i,
    shaped: none,
  },
  feedId: {
    fixed: none,
    // Ids of feed pages.
    shaped: /^fed_[\da-z]{1,32}$/,
  },
};

const maxCharacters = 64;
const maxRemembered = 2_000;
const remembered = Object.fromEntries(
  Object.keys(known).map((field) => [field, new Map<string, string>()]),
) as Record<LabelField, Map<string, string>>;

/** The label under which a value is counted; '' if there is none. */
export function labelOf(field: LabelField, value: unknown): string {
  if (typeof value !== 'string' || value === '') return '';
  const labels = remembered[field];
  let label = labels.get(value);
  if (label === undefined) {
    label = isKnown(field, value) ? value : otherLabel;
    if (labels.size >= maxRemembered) labels.clear();
    labels.set(value, label);
  }
  return label;
}

function isKnown(field: LabelField, text: string): boolean {
  return text.length <= maxCharacters && (isFixed(field, text) || known[field].shaped.test(text));
}

/** Whether the text is in the fixed vocabulary of a field. */
export function isFixed(field: LabelField, text: string): boolean {
  return known[field].fixed.test(text);
}

/** The scopes of a rejection by a viewer. */
export const scopes: readonly string[] = ['item', 'author', 'tag'];

const fieldsOfData: Readonly<Record<string, LabelField>> = {
  entryPoint: 'entryPoint',
  rendition: 'rendition',
  fromQuality: 'rendition',
  toQuality: 'rendition',
  codec: 'codec',
  errorCode: 'errorCode',
  platform: 'sharePlatform',
};

/** Whether the text is in the fixed vocabulary of a field of `data`. */
export function isFixedValue(name: string, text: string): boolean {
  if (name === 'scope') return scopes.includes(text);
  const field = Object.hasOwn(fieldsOfData, name) ? fieldsOfData[name] : undefined;
  return field !== undefined && isFixed(field, text);
}
