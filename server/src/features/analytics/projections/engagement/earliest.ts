/**
 * Values that a view or a session takes from its first event that has one: device, country, entry
 * point and app version.
 */
import type { EventDevice, LoggedEvent } from '../../../events/events.ts';
import { entryPointOf, hashLabel, hashMessage } from './label.ts';

/**
 * The value of the first event that has one; if two are simultaneous, the smaller value. '' means
 * none.
 */
export type Earliest = { readonly value: string; readonly at: number };

export const noValue: Earliest = { value: '', at: 0 };

export function earlierOf(found: Earliest, value: string, at: number): Earliest {
  if (value === '') return found;
  const isEarlier = found.value === '' || at < found.at || (at === found.at && value < found.value);
  return isEarlier ? { value, at } : found;
}

export function addLabels(
  into: { entryPoint: Earliest; appVersion: Earliest },
  { data, appVersion }: Pick<LoggedEvent, 'data' | 'appVersion'>,
  at: number,
): void {
  const entryPoint = entryPointOf(data);
  if (entryPoint !== undefined) {
    into.entryPoint = earlierOf(into.entryPoint, hashLabel('entryPoint', entryPoint), at);
  }
  if (appVersion !== undefined) {
    into.appVersion = earlierOf(into.appVersion, hashLabel('appVersion', appVersion), at);
  }
}

/** Labels that only views have, each from the kind of event that carries it. */
export type ViewLabels = {
  feedId: Earliest;
  /** Decimal digits of fixed width, so that it is stored and compared like a hash. */
  position: Earliest;
  sharePlatform: Earliest;
  rendition: Earliest;
  codec: Earliest;
  errorCode: Earliest;
  /** The normalized message; see `messageGroup`. */
  errorMessage: Earliest;
};

export const viewLabels = [
  'feedId',
  'position',
  'sharePlatform',
  'rendition',
  'codec',
  'errorCode',
  'errorMessage',
] as const satisfies readonly (keyof ViewLabels)[];

export const noViewLabels: ViewLabels = {
  feedId: noValue,
  position: noValue,
  sharePlatform: noValue,
  rendition: noValue,
  codec: noValue,
  errorCode: noValue,
  errorMessage: noValue,
};

const fieldsOfKinds: Readonly<
  Partial<Record<LoggedEvent['event'], readonly (readonly [Labelled, string])[]>>
> = {
  impression: [['feedId', 'feedId']],
  playStart: [
    ['rendition', 'rendition'],
    ['codec', 'codec'],
  ],
  share: [['sharePlatform', 'platform']],
  error: [['errorCode', 'errorCode']],
};
type Labelled = Exclude<keyof ViewLabels, 'position' | 'errorMessage'>;

export const greatestPosition = 999;

export function addViewLabels(into: ViewLabels, { event, data, at }: LoggedEvent): void {
  for (const [field, name] of fieldsOfKinds[event] ?? []) {
    const value = data[name];
    if (typeof value === 'string') {
      into[field] = earlierOf(into[field], hashLabel(field, value), at);
    }
  }
  const { position, errorMessage } = data;
  if (event === 'impression' && typeof position === 'number' && position >= 0) {
    const digits = String(Math.min(Math.floor(position), greatestPosition)).padStart(8, '0');
    into.position = earlierOf(into.position, digits, at);
  }
  if (event === 'error' && typeof errorMessage === 'string') {
    into.errorMessage = earlierOf(into.errorMessage, hashMessage(errorMessage), at);
  }
}

export function mergeViewLabels(a: ViewLabels, b: ViewLabels): ViewLabels {
  const earlier = (name: keyof ViewLabels) => earlierOf(a[name], b[name].value, b[name].at);
  return {
    feedId: earlier('feedId'),
    position: earlier('position'),
    sharePlatform: earlier('sharePlatform'),
    rendition: earlier('rendition'),
    codec: earlier('codec'),
    errorCode: earlier('errorCode'),
    errorMessage: earlier('errorMessage'),
  };
}

const devices = ['', 'ios', 'android', 'web'] as const satisfies readonly (EventDevice | '')[];

export const earliestBytes = 20;

/** Device in one byte, country in two, and the time of each. */
export function writeEarliest(
  device: Earliest,
  country: Earliest,
  bytes: Buffer,
  at: number,
): void {
  const isCountry = country.value.length === 2;
  bytes.writeDoubleLE(device.at, at);
  bytes.writeDoubleLE(country.at, at + 8);
  bytes[at + 16] = Math.max(0, devices.indexOf(device.value as EventDevice));
  bytes[at + 17] = isCountry ? country.value.charCodeAt(0) : 0;
  bytes[at + 18] = isCountry ? country.value.charCodeAt(1) : 0;
  bytes[at + 19] = 0;
}

export function readEarliest(bytes: Buffer, at: number): { device: Earliest; country: Earliest } {
  const [first = 0, second = 0] = [bytes[at + 17], bytes[at + 18]];
  return {
    device: { value: devices[bytes[at + 16] ?? 0] ?? '', at: bytes.readDoubleLE(at) },
    country: {
      value: first === 0 ? '' : String.fromCharCode(first, second),
      at: bytes.readDoubleLE(at + 8),
    },
  };
}

export const labelBytes = 16;

/** The hash of a label in eight bytes (zeros for none), and its time. */
export function writeLabel({ value, at: moment }: Earliest, bytes: Buffer, at: number): void {
  bytes.fill(0, at, at + 8);
  bytes.write(value, at, 8, 'latin1');
  bytes.writeDoubleLE(moment, at + 8);
}

export function readLabel(bytes: Buffer, at: number): Earliest {
  const value = bytes.toString('latin1', at, at + 8);
  return { value: value === noLabel ? '' : value, at: bytes.readDoubleLE(at + 8) };
}

const noLabel = '\0'.repeat(8);
