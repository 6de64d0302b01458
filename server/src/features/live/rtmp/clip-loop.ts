import { sleep } from '../../../platform/async/lifecycle.ts';
import { readAudioTag, readVideoTag } from '../ingest/flv-tags.ts';
import { messageType } from './messages.ts';
import type { FlvTag } from './flv-file.ts';
import type { RtmpPublisher } from './rtmp-publisher.ts';

/** Sends this far ahead of the clock to hide late timers. */
const aheadMs = 50;

export class ClipLoop {
  readonly #headers: readonly FlvTag[];
  readonly #tags: readonly FlvTag[];
  readonly #lengthMs: number;
  readonly #pace: number;

  /** @param pace 1 for real time, 2 for twice as fast */
  constructor(tags: readonly FlvTag[], pace = 1) {
    const { headers, media } = splitClip(tags);
    this.#headers = headers;
    this.#tags = media;
    this.#lengthMs = lengthOf(this.#tags);
    this.#pace = pace;
  }

  /** Resolves when the signal aborts or the connection ends. */
  async send(publisher: RtmpPublisher, signal: AbortSignal): Promise<void> {
    for (const { type, payload } of this.#headers) await publisher.send(type, 0, payload);
    const startedAt = performance.now();
    for (let round = 0; ; round += 1) {
      for (const { type, timestampMs, payload } of this.#tags) {
        const atMs = round * this.#lengthMs + timestampMs;
        const aheadOfClockMs = atMs / this.#pace - (performance.now() - startedAt);
        if (aheadOfClockMs > aheadMs) await sleep(aheadOfClockMs, signal);
        if (signal.aborted || !publisher.isOpen) return;
        await publisher.send(type, atMs >>> 0, payload);
      }
    }
  }
}

export function splitClip(tags: readonly FlvTag[]): Record<'headers' | 'media', FlvTag[]> {
  const split: Record<'headers' | 'media', FlvTag[]> = { headers: [], media: [] };
  for (const tag of tags) {
    const read = tag.type === messageType.video ? readVideoTag : readAudioTag;
    const content = read(tag.payload);
    if (content !== null) split[content.isHeader ? 'headers' : 'media'].push(tag);
  }
  return split;
}

/** The duration from the first picture to the one that would follow the last. */
function lengthOf(tags: readonly FlvTag[]): number {
  const pictures = tags.filter(({ type }) => type === messageType.video);
  const spanMs = (pictures.at(-1)?.timestampMs ?? 0) - (pictures[0]?.timestampMs ?? 0);
  return Math.round((spanMs * pictures.length) / Math.max(1, pictures.length - 1));
}
