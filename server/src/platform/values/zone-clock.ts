/**
 * The wall clock of a time zone, as milliseconds that read like UTC: half past nine on 1 May is
 * `Date.UTC(year, 4, 1, 9, 30)` in every zone. Days and hours of a zone can then be computed with
 * the same arithmetic as those of UTC. When clocks go back, two hours share one name; when they go
 * forward, one hour is skipped.
 */
const quarterMs = 15 * 60_000;
const maxRemembered = 10_000;
const zoneForm = /^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/;

/** Returns whether the text is the name of an IANA time zone, such as Europe/Berlin. */
export function isTimeZone(text: string): boolean {
  if (!zoneForm.test(text)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: text }).format(0);
    return true;
  } catch {
    return false;
  }
}

export class ZoneClock {
  readonly timeZone: string;
  readonly #format: Intl.DateTimeFormat | null;
  /** Offsets change only at quarter hours, so one lookup covers a whole quarter hour. */
  readonly #offsets = new Map<number, number>();

  /** @throws RangeError if there is no such zone */
  constructor(timeZone: string) {
    this.timeZone = timeZone;
    this.#format =
      timeZone === 'UTC'
        ? null
        : new Intl.DateTimeFormat('en', {
            timeZone,
            hourCycle: 'h23',
            year: 'numeric',
            month: 'numeric',
            day: 'numeric',
            hour: 'numeric',
            minute: 'numeric',
          });
  }

  /** The local wall-clock time at an instant. */
  localOf(ms: number): number {
    return ms + this.quartersAheadAt(ms) * quarterMs;
  }

  /**
   * The instant at which the wall clock shows a given time: either one if the hour occurs twice,
   * and an instant next to the gap if the time is skipped.
   */
  momentOf(localMs: number): number {
    const near = localMs - this.quartersAheadAt(localMs) * quarterMs;
    return localMs - this.quartersAheadAt(near) * quarterMs;
  }

  /** The zone's offset from UTC at an instant, in quarters of an hour: −48 to 56. */
  quartersAheadAt(ms: number): number {
    if (this.#format === null) return 0;
    const quarter = Math.floor(ms / quarterMs);
    let ahead = this.#offsets.get(quarter);
    if (ahead === undefined) {
      if (this.#offsets.size >= maxRemembered) this.#offsets.clear();
      const startMs = quarter * quarterMs;
      ahead = Math.round((readWallClock(this.#format, startMs) - startMs) / quarterMs);
      this.#offsets.set(quarter, ahead);
    }
    return ahead;
  }

  /** The local time with its offset, such as 2026-01-31T14:00:00.000+01:00. */
  nameOf(localMs: number): string {
    const written = new Date(localMs).toISOString();
    if (this.#format === null) return written;
    const minutes = (localMs - this.momentOf(localMs)) / 60_000;
    const sign = minutes < 0 ? '-' : '+';
    const two = (value: number) => String(Math.trunc(Math.abs(value))).padStart(2, '0');
    return `${written.slice(0, -1)}${sign}${two(minutes / 60)}:${two(minutes % 60)}`;
  }
}

/** Shifts an instant by an offset from `quartersAheadAt`. */
export function localMoment(ms: number, quartersAhead: number): number {
  return ms + quartersAhead * quarterMs;
}

const clocks = new Map<string, ZoneClock>();

export function clockOf(timeZone: string): ZoneClock {
  let clock = clocks.get(timeZone);
  if (clock === undefined) {
    clock = new ZoneClock(timeZone);
    clocks.set(timeZone, clock);
  }
  return clock;
}

function readWallClock(format: Intl.DateTimeFormat, ms: number): number {
  const parts = new Map(format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]));
  const of = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0;
  return Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'));
}
