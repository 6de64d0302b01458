/**
 * The kinds of events, with the required and optional `data` of each. Validation, the API
 * description and the documentation are derived from this table.
 */
import { isCustomKind, type CustomKind } from '../custom-kinds.ts';
import { scopes } from '../labels.ts';

/** A constraint on a value; `expected` completes "must be …". */
export type FieldType = {
  /** For the documentation table. */
  readonly label: string;
  readonly expected: string;
  readonly accepts: (value: unknown) => boolean;
};

export type FieldRule = {
  readonly name: string;
  readonly type: FieldType;
  readonly required: boolean;
  readonly about: string;
};

/** Far above every real value, and far below where sums would lose precision. */
const most = 1e9;

const text: FieldType = {
  label: 'text',
  expected: 'a non-empty string',
  accepts: (value) => typeof value === 'string' && value !== '',
};
const anyText: FieldType = {
  label: 'a string, may be empty',
  expected: 'text',
  accepts: (value) => typeof value === 'string',
};
const flag: FieldType = {
  label: 'true or false',
  expected: 'true or false',
  accepts: (value) => typeof value === 'boolean',
};
const amount: FieldType = {
  label: 'number',
  expected: 'a number from 0 to 1,000,000,000',
  accepts: (value) => typeof value === 'number' && value >= 0 && value <= most,
};
/** Far longer than any visit, so a larger value is either a unit mistake or made up. */
export const maxWatchSeconds = 7 * 24 * 3_600;

const watched: FieldType = {
  label: 'number',
  expected: 'a number of seconds from 0 to 604,800, which is a week',
  accepts: (value) => typeof value === 'number' && value >= 0 && value <= maxWatchSeconds,
};
const percent: FieldType = {
  label: 'number',
  expected: 'a number from 0 to 100',
  accepts: (value) => typeof value === 'number' && value >= 0 && value <= 100,
};
const whole: FieldType = {
  label: 'whole number',
  expected: 'a whole number from 0 to 1,000,000,000',
  accepts: (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= most,
};

const scope: FieldType = {
  label: 'item, author or tag',
  expected: '"item", "author" or "tag"',
  accepts: (value) => typeof value === 'string' && scopes.includes(value),
};

function required(name: string, type: FieldType, about: string): FieldRule {
  return { name, type, required: true, about };
}

function optional(name: string, type: FieldType, about: string): FieldRule {
  return { name, type, required: false, about };
}

/**
 * The fields of `data` by kind. `unlike` and `unsave` reverse `like` and `save`; `notInterested`
 * and `report` are reversed with `data.undo`. `swipe` is also accepted with the names of the event
 * table; see `useEarlierNames` in event-parser.ts. Its `fromContentId` must be an item, like
 * `contentId`.
 */
const rulesByKind = {
  impression: [
    required('position', whole, 'Position in the feed, starting at 0'),
    optional(
      'entryPoint',
      text,
      'Where from: feed (also where only a `feedId` is told), search, direct, share',
    ),
    optional('feedId', text, '`meta.feedId` of the feed page'),
  ],
  playStart: [
    required('startupTime', whole, 'Milliseconds to the first frame'),
    optional('rendition', text, 'First quality'),
    optional('codec', text, 'Video codec'),
    optional('autoplay', flag, 'Whether playback started automatically'),
  ],
  watchProgress: [
    required('currentTime', amount, 'Playback position in seconds'),
    required('duration', amount, 'Length in seconds'),
    optional('percentComplete', percent, 'Percentage watched, from 0 to 100'),
    optional('rendition', text, 'Current quality'),
    optional('watchTime', watched, 'Seconds watched so far in this view'),
  ],
  completion: [
    required('watchTime', watched, 'Seconds watched in this view'),
    required('looped', flag, 'Whether this is a replay'),
    optional('loopCount', whole, 'Number of replays'),
  ],
  swipe: [
    required('fromContentId', text, 'The item that was left'),
    required('watchTimeOnFrom', watched, 'Seconds watched of that item'),
    optional('direction', text, 'Direction, such as up or down'),
  ],
  like: [],
  unlike: [],
  share: [required('platform', text, 'Where the item was shared')],
  save: [],
  unsave: [],
  notInterested: [
    required(
      'scope',
      scope,
      'What the viewer wants to see less of: the item, its author or its tags',
    ),
    optional('undo', flag, 'Whether this undoes an earlier event'),
  ],
  report: [
    required('reason', text, 'Reason, such as spam'),
    optional('undo', flag, 'Whether this undoes an earlier event'),
  ],
  rebuffer: [
    required('duration', whole, 'Duration of the stall in milliseconds'),
    required('currentTime', amount, 'Playback position in seconds'),
    optional('rendition', text, 'Quality during the stall'),
  ],
  qualityChange: [
    required('fromQuality', text, 'Quality before'),
    required('toQuality', text, 'Quality after'),
  ],
  error: [
    required('errorCode', text, 'Error code of the player'),
    required('errorMessage', anyText, 'Error message of the player'),
  ],
} satisfies Record<string, readonly FieldRule[]>;

export type EventKind = keyof typeof rulesByKind;
export const eventKinds = Object.keys(rulesByKind) as readonly EventKind[];
export const dataRules: Readonly<Record<EventKind, readonly FieldRule[]>> = rulesByKind;

export function isEventKind(text: string): text is EventKind {
  return Object.hasOwn(dataRules, text);
}

/**
 * Whether a position is within the item. Players round positions, and run slightly past the end. A
 * duration of 0 is unknown, and that of a live stream is meaningless.
 */
export function isPossiblePosition(currentTime: number, duration: number): boolean {
  return duration === 0 || currentTime <= duration * 1.05 + 2;
}

/** Custom kinds have no fields known to the service. */
export function rulesOf(kind: EventKind | CustomKind): readonly FieldRule[] {
  return isCustomKind(kind) ? [] : dataRules[kind];
}

/** The table as Markdown, for the guide. */
export function describeEventKinds(): string {
  const rows = eventKinds.flatMap((kind) => {
    const fields = dataRules[kind].map(
      ({ name, type, required: isRequired, about }) =>
        `\`${name}\`${isRequired ? '' : '?'} | ${type.label} | ${about}`,
    );
    const [first = '| |', ...others] = fields;
    return [`| \`${kind}\` | ${first} |`, ...others.map((field) => `| | ${field} |`)];
  });
  return ['| Kind | Field of `data` | Type | |', '|---|---|---|---|', ...rows].join('\n');
}
