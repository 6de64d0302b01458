/**
 * Checks low-latency playlists against RFC 8216bis and RFC 8216 over every reload, like a strict
 * player. Uses its own parser.
 */
import assert from 'node:assert/strict';
import { PlaylistFollower, readPlaylist, type ReadPlaylist } from './hls-rules.ts';

export type ReadPart = {
  readonly segment: number;
  readonly index: number;
  readonly uri: string;
  readonly seconds: number;
  readonly isIndependent: boolean;
};

export type ReadLowLatency = ReadPlaylist & {
  readonly partTarget: number;
  readonly parts: readonly ReadPart[];
  readonly openSegment: number;
  readonly hint: string | null;
  readonly reports: readonly ReadReport[];
};

export type ReadReport = {
  readonly uri: string;
  readonly lastSegment: number;
  readonly lastPart: number | null;
};

const number = (line: string, name: string) =>
  Number(new RegExp(`[:,]${name}=([\\d.]+)`).exec(line)?.[1] ?? Number.NaN);
const text = (line: string, name: string) =>
  new RegExp(`[:,]${name}="([^"]*)"`).exec(line)?.[1] ?? null;

function one(lines: readonly string[], tag: string): string {
  const found = lines.filter((line) => line.startsWith(`#${tag}:`));
  assert.equal(found.length, 1, `${tag} is there once`);
  return found[0] ?? '';
}

/**
 * Parses a low-latency playlist without an end.
 * @throws {AssertionError}
 */
export function readLowLatency(playlist: string): ReadLowLatency {
  const plain = readPlaylist(playlist);
  const lines = playlist.split('\n');
  const control = one(lines, 'EXT-X-SERVER-CONTROL');
  const partTarget = number(one(lines, 'EXT-X-PART-INF'), 'PART-TARGET');
  assert.match(control, /CAN-BLOCK-RELOAD=YES/);
  assert.ok(number(control, 'PART-HOLD-BACK') >= 3 * partTarget, 'B.1: PART-HOLD-BACK');
  assert.ok(number(control, 'HOLD-BACK') >= 3 * plain.targetSeconds, '4.4.3.8: HOLD-BACK');
  const parts: ReadPart[] = [];
  let segment = Number(one(lines, 'EXT-X-MEDIA-SEQUENCE').split(':')[1]);
  let index = 0;
  for (const line of lines) {
    if (line.startsWith('#EXT-X-PART:')) {
      const uri = text(line, 'URI') ?? assert.fail(line);
      const isIndependent = line.includes('INDEPENDENT=YES');
      parts.push({ segment, index, uri, seconds: number(line, 'DURATION'), isIndependent });
      index += 1;
    } else if (line !== '' && !line.startsWith('#')) {
      segment += 1;
      index = 0;
    }
  }
  const hints = lines.filter((line) => line.startsWith('#EXT-X-PRELOAD-HINT:TYPE=PART'));
  assert.ok(hints.length <= 1, '4.4.5.3: one hint of a kind');
  const hint = hints[0] === undefined ? null : text(hints[0], 'URI');
  const reports = readReports(lines);
  const read = { ...plain, partTarget, parts, openSegment: segment, hint, reports };
  checkLengths(read);
  return read;
}

/** One report for each other rendition, after the segments. */
function readReports(lines: readonly string[]): ReadReport[] {
  const reports = lines
    .filter((line) => line.startsWith('#EXT-X-RENDITION-REPORT:'))
    .map((line) => {
      const part = number(line, 'LAST-PART');
      return {
        uri: text(line, 'URI') ?? assert.fail('4.4.5.4: URI is required'),
        lastSegment: number(line, 'LAST-MSN'),
        lastPart: Number.isNaN(part) ? null : part,
      };
    });
  for (const { lastSegment } of reports) assert.ok(lastSegment >= 0, '4.4.5.4: LAST-MSN');
  assert.equal(
    new Set(reports.map(({ uri }) => uri)).size,
    reports.length,
    '4.4.5.4: one for each',
  );
  return reports;
}

/** Follows a rung's playlist, which has no parts, through its versions. */
export class RungFollower {
  readonly #plain = new PlaylistFollower();
  #reports: readonly ReadReport[] = [];

  /** @throws {AssertionError} for violations of the rules */
  take(playlist: string): ReadPlaylist & { readonly reports: readonly ReadReport[] } {
    const plain = this.#plain.take(playlist);
    const lines = playlist.split('\n');
    const control = one(lines, 'EXT-X-SERVER-CONTROL');
    assert.match(control, /CAN-BLOCK-RELOAD=YES/);
    assert.ok(number(control, 'HOLD-BACK') >= 3 * plain.targetSeconds, '4.4.3.8: HOLD-BACK');
    assert.doesNotMatch(playlist, /EXT-X-PART|PRELOAD-HINT/);
    const reports = readReports(lines);
    for (const { uri, lastSegment } of this.#reports) {
      const now = reports.find((report) => report.uri === uri);
      assert.ok(now === undefined || now.lastSegment >= lastSegment, '4.4.5.4: it never goes back');
    }
    this.#reports = reports;
    return { ...plain, reports };
  }
}

function checkLengths({ parts, partTarget, segments, openSegment, targetSeconds }: ReadLowLatency) {
  for (const [at, part] of parts.entries()) {
    assert.ok(part.seconds <= partTarget + 1e-6, `4.4.3.7: ${part.uri} has ${part.seconds} s`);
    const isLast = parts[at + 1]?.segment !== part.segment && part.segment !== openSegment;
    const isLatest = at === parts.length - 1;
    assert.ok(
      isLast || isLatest || part.seconds >= 0.85 * partTarget,
      `4.4.4.9: ${part.uri} has only ${part.seconds} s`,
    );
  }
  let toEnd = 0;
  for (const segment of segments.toReversed()) {
    const own = parts.filter((part) => part.segment === segment.number);
    const sum = own.reduce((total, { seconds }) => total + seconds, 0);
    const isOne = own.length === 0 || Math.abs(sum - segment.seconds) < 1e-6;
    assert.ok(isOne, `4.4.4.9: the parts of ${segment.uri} are ${sum} s of ${segment.seconds}`);
    toEnd += segment.seconds;
    const isOld = toEnd > 4 * targetSeconds;
    assert.ok(!isOld || own.length === 0, `4.4.4.9: the parts of ${segment.uri} are old`);
  }
}

/** Follows one playlist through its versions. */
export class LowLatencyFollower {
  readonly #plain = new PlaylistFollower();
  readonly #seen = new Map<string, ReadPart>();
  #before: ReadLowLatency | null = null;
  #keptHints = 0;

  /** Number of parts that appeared under their announced name. */
  get keptHints(): number {
    return this.#keptHints;
  }

  /** All parts ever listed. */
  get parts(): readonly ReadPart[] {
    return [...this.#seen.values()];
  }

  /** @throws {AssertionError} for violations of the rules */
  take(playlist: string): ReadLowLatency {
    this.#plain.take(playlist);
    const now = readLowLatency(playlist);
    const before = this.#before;
    const added: ReadPart[] = [];
    for (const part of now.parts) {
      const name = `${part.segment}.${part.index}`;
      const known = this.#seen.get(name);
      if (known === undefined) added.push(part);
      else assert.deepEqual(part, known, '6.2.1: a part stays as it was');
      this.#seen.set(name, part);
    }
    if (before !== null) this.#compare(before, now, added);
    this.#before = now;
    return now;
  }

  #compare(before: ReadLowLatency, now: ReadLowLatency, added: readonly ReadPart[]): void {
    assert.equal(now.partTarget, before.partTarget, '4.4.3.7: the part target is constant');
    const edge = (read: ReadLowLatency) => read.openSegment * 1_000 + openParts(read).length;
    assert.ok(edge(now) >= edge(before), '6.2.1: the end never goes back');
    for (const part of openParts(before)) {
      const isListed = now.parts.some(({ uri }) => uri === part.uri);
      const isOld = now.openSegment > part.segment + 3;
      assert.ok(isListed || isOld, `6.2.1: ${part.uri} was taken back`);
    }
    const [next] = added;
    if (next === undefined || before.hint === null) return;
    const cut = now.segments.find((segment) => segment.number === before.openSegment);
    const isNewConnection =
      next.uri.replace(/\d+\.m4s$/, '') !== before.hint.replace(/\d+\.m4s$/, '');
    if (isNewConnection) {
      const earlier = now.segments.find((segment) => segment.number === next.segment - 1);
      const hasCut = cut === undefined || earlier?.discontinuities !== cut.discontinuities;
      assert.ok(hasCut || next.index === 0, '4.4.5.3: another part came than was announced');
      return;
    }
    assert.equal(next.uri, before.hint, '4.4.5.3: a hint comes true');
    this.#keptHints += 1;
  }
}

function openParts({ parts, openSegment }: ReadLowLatency): ReadPart[] {
  return parts.filter(({ segment }) => segment === openSegment);
}
