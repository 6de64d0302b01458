/**
 * Checks media playlists against RFC 8216 over every reload, like a strict player: pass each
 * version of a playlist in turn. Uses its own parser, so that an error in our writer is not
 * repeated here.
 */
import assert from 'node:assert/strict';

export type ReadSegment = {
  readonly number: number;
  readonly uri: string;
  readonly seconds: number;
  /** Null for a gap, which is never loaded. */
  readonly map: string | null;
  readonly discontinuities: number;
};

export type ReadPlaylist = {
  readonly targetSeconds: number;
  readonly type: string | null;
  readonly isEnded: boolean;
  readonly segments: readonly ReadSegment[];
};

function attribute(line: string, name: string): string | null {
  return new RegExp(`[:,]${name}="([^"]*)"`).exec(line)?.[1] ?? null;
}

/** Parses a media playlist. @throws {AssertionError} for violations of section 4 */
export function readPlaylist(text: string): ReadPlaylist {
  const lines = text.split('\n');
  assert.equal(lines[0], '#EXTM3U', '4.3.1.1: the first line');
  assert.ok(text.endsWith('\n') && !text.includes('\r\r'));
  const valueOf = (tag: string): string | null => {
    const found = lines.filter((line) => line.startsWith(`#${tag}:`));
    assert.ok(found.length <= 1, `4.3.3: ${tag} is there once at most`);
    return found[0]?.slice(tag.length + 2) ?? null;
  };
  const whole = (tag: string) => {
    const value = valueOf(tag);
    assert.match(value ?? '0', /^\d+$/, tag);
    return Number(value ?? 0);
  };
  const targetSeconds = whole('EXT-X-TARGETDURATION');
  assert.ok(targetSeconds > 0, '4.3.3.1: a target duration is required');
  assert.ok(whole('EXT-X-VERSION') >= 6, '7: EXT-X-MAP needs version 6');
  const firstTag = lines.findIndex((line) => line.startsWith('#EXTINF'));
  for (const tag of ['EXT-X-MEDIA-SEQUENCE', 'EXT-X-DISCONTINUITY-SEQUENCE']) {
    const at = lines.findIndex((line) => line.startsWith(`#${tag}`));
    assert.ok(at === -1 || firstTag === -1 || at < firstTag, `4.3.3: ${tag} before segments`);
  }
  const segments: ReadSegment[] = [];
  let [number, discontinuities] = [
    whole('EXT-X-MEDIA-SEQUENCE'),
    whole('EXT-X-DISCONTINUITY-SEQUENCE'),
  ];
  let [map, seconds]: [string | null, number | null] = [null, null];
  let isGap = false;
  for (const line of lines.slice(1)) {
    if (line === '#EXT-X-DISCONTINUITY') discontinuities += 1;
    else if (line === '#EXT-X-GAP') isGap = true;
    else if (line.startsWith('#EXT-X-MAP')) map = attribute(line, 'URI');
    else if (line.startsWith('#EXTINF:')) seconds = Number(/:([\d.]+),/.exec(line)?.[1]);
    else if (line !== '' && !line.startsWith('#')) {
      assert.ok(seconds !== null && seconds > 0, `4.3.2.1: ${line} has a length`);
      assert.ok(
        Math.round(seconds) <= targetSeconds,
        `4.3.3.1: ${line} has ${seconds} s, the target is ${targetSeconds}`,
      );
      segments.push({ number, uri: line, seconds, map: isGap ? null : map, discontinuities });
      number += 1;
      seconds = null;
      isGap = false;
    }
  }
  const isEnded = lines.includes('#EXT-X-ENDLIST');
  return { targetSeconds, type: valueOf('EXT-X-PLAYLIST-TYPE'), isEnded, segments };
}

/** Follows one playlist through its versions. */
export class PlaylistFollower {
  #before: ReadPlaylist | null = null;
  readonly #seen = new Map<number, ReadSegment>();

  /** All segments ever listed, in order. */
  get segments(): readonly ReadSegment[] {
    return [...this.#seen.values()];
  }

  /** @throws {AssertionError} for violations of sections 4 and 6.2 */
  take(text: string): ReadPlaylist {
    const now = readPlaylist(text);
    const before = this.#before;
    if (before !== null) compare(before, now);
    for (const segment of now.segments) {
      const known = this.#seen.get(segment.number);
      if (known !== undefined) {
        assert.deepEqual(segment, known, '6.2.1: what was listed stays as it was');
        continue;
      }
      const previous = this.#seen.get(segment.number - 1);
      const isLoaded = segment.map !== null && previous?.map != null;
      const hasNewMap = isLoaded && previous.map !== segment.map;
      const isCut = previous !== undefined && previous.discontinuities !== segment.discontinuities;
      assert.ok(!hasNewMap || isCut, '4.3.2.3: another format needs a discontinuity');
      this.#seen.set(segment.number, segment);
    }
    this.#before = now;
    return now;
  }
}

function compare(before: ReadPlaylist, now: ReadPlaylist): void {
  assert.equal(now.targetSeconds, before.targetSeconds, '6.2.1: the target duration is constant');
  assert.equal(now.type, before.type, '4.3.3.5: the type is constant');
  const [first, firstBefore] = [now.segments[0], before.segments[0]];
  const [last, lastBefore] = [now.segments.at(-1), before.segments.at(-1)];
  assert.ok((first?.number ?? 0) >= (firstBefore?.number ?? 0), '6.2.2: numbers never fall');
  assert.ok((last?.number ?? 0) >= (lastBefore?.number ?? 0), '6.2.1: segments are appended');
  if (before.isEnded) assert.deepEqual(now, before, '6.2.1: nothing changes behind the end');
  const seconds = now.segments.reduce((sum, segment) => sum + segment.seconds, 0);
  const hasRemoved =
    first !== undefined && firstBefore !== undefined && first.number > firstBefore.number;
  assert.ok(
    !hasRemoved || seconds >= 3 * now.targetSeconds,
    `6.2.2: three target durations stay listed, not ${seconds} s`,
  );
  if (now.type === 'EVENT') assert.ok(!hasRemoved, '4.3.3.5: nothing is removed from an EVENT');
}
