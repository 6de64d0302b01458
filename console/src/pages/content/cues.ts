/** The cues of a WebVTT file, as the editor shows them. Times are in seconds. */
export type Cue = { start: number; end: number; text: string };

const timing =
  /^(?:(\d+):)?(\d{1,2}):(\d{2})[.,](\d{3})\s+-->\s+(?:(\d+):)?(\d{1,2}):(\d{2})[.,](\d{3})/;

const secondsOf = (hours: string | undefined, ...rest: string[]): number => {
  const [minutes, seconds, milliseconds] = rest.map(Number);
  return (
    Number(hours ?? 0) * 3_600 + (minutes ?? 0) * 60 + (seconds ?? 0) + (milliseconds ?? 0) / 1_000
  );
};

/** Parses cues; everything else, such as notes and styles, is ignored. */
export function parseCues(file: string): Cue[] {
  const blocks = file.replaceAll('\r\n', '\n').split(/\n{2,}/);
  return blocks.flatMap((block) => {
    const lines = block.trim().split('\n');
    const at = lines.findIndex((line) => timing.test(line));
    const found = timing.exec(lines[at] ?? '');
    if (found === null) return [];
    const [, startHours, a = '', b = '', c = '', endHours, d = '', e = '', f = ''] = found;
    return [
      {
        start: secondsOf(startHours, a, b, c),
        end: secondsOf(endHours, d, e, f),
        text: lines.slice(at + 1).join('\n'),
      },
    ];
  });
}

/** `83.5` as `00:01:23.500`. */
export function cueTime(seconds: number): string {
  const milliseconds = Math.round(seconds * 1_000);
  const part = (value: number, length = 2) => String(Math.floor(value)).padStart(length, '0');
  return (
    `${part(milliseconds / 3_600_000)}:${part((milliseconds / 60_000) % 60)}:` +
    `${part((milliseconds / 1_000) % 60)}.${part(milliseconds % 1_000, 3)}`
  );
}

/** Parses `1:23.5` or `83.5`; null if it is not a time. */
export function readCueTime(text: string): number | null {
  const found = /^(?:(?:(\d+):)?(\d{1,2}):)?(\d+)(?:[.,](\d{1,3}))?$/.exec(text.trim());
  if (found === null) return null;
  const [, hours = '0', minutes = '0', seconds = '0', fraction = '0'] = found;
  return Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds) + Number(`0.${fraction}`);
}

/** Returns null if the cues are valid. */
export function problemOfCues(cues: readonly Cue[]): { at: number; text: string } | null {
  for (const [at, { start, end, text }] of cues.entries()) {
    if (!(end > start)) return { at, text: 'It ends before it begins.' };
    if (text.trim() === '') return { at, text: 'It has no text.' };
    if (text.includes('-->')) return { at, text: 'A text cannot contain “-->”.' };
  }
  return null;
}

/** The file, ordered by time. Blank lines in texts are removed: they would end the cue. */
export function writeCues(cues: readonly Cue[]): string {
  const blocks = cues
    .toSorted((one, other) => one.start - other.start)
    .map(
      ({ start, end, text }) =>
        `${cueTime(start)} --> ${cueTime(end)}\n${text.trim().replaceAll(/\n\s*\n/g, '\n')}`,
    );
  return `WEBVTT\n\n${blocks.join('\n\n')}\n`;
}
