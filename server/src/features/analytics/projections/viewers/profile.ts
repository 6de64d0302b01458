/**
 * What one viewer has met, and how much it was to their liking: one encounter for each item. What the
 * items are about is looked up when the profile is read, so it is always what they are about now.
 *
 * A profile is a function of the set of the viewer's events: weights add up, and moments are the
 * latest ones. A pass adds its encounters behind those that are stored, without reading them; they
 * are merged when they are read, and folded together when they have become many.
 */
import type { LoggedEvent } from '../../../events/events.ts';

export type Encounter = {
  /** Seconds of the Unix epoch. */
  second: number;
  /** How much the viewer liked it; negative when it was swiped away at once. */
  weight: number;
  /** Where the viewer was at that moment; '' is unknown. */
  country: string;
};

/** Encounters by item. */
export type Profile = Map<string, Encounter>;

/** Below this, swiping away says that the viewer did not want it. */
const quickSwipeSeconds = 2;

/** How much an event says about what a viewer likes. */
export function weightOf({ event, data }: LoggedEvent): number {
  switch (event) {
    case 'playStart':
      return 1;
    case 'completion':
      return 4;
    case 'like':
    case 'save':
      return 6;
    case 'unlike':
    case 'unsave':
      return -6;
    case 'share':
      return 8;
    case 'swipe': {
      const watched = data['watchTimeOnFrom'] ?? data['watchTime'];
      return typeof watched === 'number' && watched < quickSwipeSeconds ? -2 : 0;
    }
    case 'impression':
    case 'watchProgress':
    case 'rebuffer':
    case 'qualityChange':
    case 'error':
      return 0;
    default:
      return event satisfies never;
  }
}

export function addEncounter(profile: Profile, contentId: string, added: Encounter): void {
  const found = profile.get(contentId);
  if (found === undefined) {
    profile.set(contentId, { ...added });
    return;
  }
  found.weight += added.weight;
  addMoment(found, added.second, added.country);
}

/** The latest moment, and the country of it: of two at one moment, the greater. */
export function addMoment(encounter: Encounter, second: number, country: string): void {
  if (second > encounter.second) {
    encounter.second = second;
    encounter.country = country;
  } else if (second === encounter.second && country > encounter.country) {
    encounter.country = country;
  }
}

// An encounter is stored in 24 bytes: the item's UUID, the second, the weight, the country.
const encounterBytes = 24;
const mostWeight = 32_767;
const mostSeconds = 2 ** 32 - 1;

/** The bytes of some encounters; bytes of several may stand behind each other. */
export function writeEncounters(encounters: readonly (readonly [string, Encounter])[]): Buffer {
  const bytes = Buffer.allocUnsafe(encounters.length * encounterBytes);
  let at = 0;
  for (const [contentId, { second, weight, country }] of encounters) {
    bytes.write(contentId.replaceAll('-', ''), at, 16, 'hex');
    bytes.writeUInt32BE(Math.min(Math.max(second, 0), mostSeconds), at + 16);
    bytes.writeInt16BE(Math.max(-mostWeight, Math.min(weight, mostWeight)), at + 20);
    bytes[at + 22] = country.length === 2 ? country.charCodeAt(0) : 0;
    bytes[at + 23] = country.length === 2 ? country.charCodeAt(1) : 0;
    at += encounterBytes;
  }
  return bytes;
}

export function readEncounters(bytes: Buffer): Profile {
  const profile: Profile = new Map();
  for (let at = 0; at + encounterBytes <= bytes.length; at += encounterBytes) {
    const hex = bytes.toString('hex', at, at + 16);
    const contentId = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
    addEncounter(profile, contentId, {
      second: bytes.readUInt32BE(at + 16),
      weight: bytes.readInt16BE(at + 20),
      country: bytes[at + 22] === 0 ? '' : bytes.toString('latin1', at + 22, at + 24),
    });
  }
  return profile;
}

const mostOfAKind = 200;

/**
 * What is kept of a profile: the latest 200 items that the viewer liked beyond playing them, or
 * disliked, and the latest 200 of the others.
 */
export function latestEncounters(profile: Profile): (readonly [string, Encounter])[] {
  const all = [...profile].toSorted(
    ([a, one], [b, other]) => other.second - one.second || (a < b ? -1 : 1),
  );
  const telling = all.filter(([, { weight }]) => weight > 1 || weight < 0);
  const others = all.filter(([, { weight }]) => weight === 0 || weight === 1);
  return [...telling.slice(0, mostOfAKind), ...others.slice(0, mostOfAKind)];
}

const halfLifeSeconds = 14 * 24 * 3_600;

/** What is left of a weight at `nowMs`: half of it after two weeks. */
export function fadedWeight({ weight, second }: Encounter, nowMs: number): number {
  return weight * 0.5 ** (Math.max(0, nowMs / 1_000 - second) / halfLifeSeconds);
}
