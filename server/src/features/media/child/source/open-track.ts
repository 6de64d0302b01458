import { AVDISCARD_ALL, AVDISCARD_DEFAULT } from 'node-av/constants';
import type { FormatContext } from 'node-av/lib';
import { required } from '../engine/engine.ts';
import { openSource, type Source, type SourceStream } from './source.ts';

/** A second handle on a source, for just one of its tracks. */
export type OpenTrack = AsyncDisposable & {
  readonly source: Source;
  readonly container: FormatContext;
  readonly stream: SourceStream;
};

type Known = Pick<Source, 'path' | 'survey'>;

/**
 * Opens a track that the source is known to have.
 * @throws like {@link openSource}
 */
export function openTrack(known: Known, kind: 'video' | 'audio'): Promise<OpenTrack> {
  return open(known, (source) => required(source[kind], `the ${kind} of the source`));
}

/**
 * Opens one of the additional audio tracks.
 * @throws like {@link openSource}
 */
export function openOtherSound(known: Known, number: number): Promise<OpenTrack> {
  return open(known, ({ otherSounds }) => required(otherSounds[number] ?? null, 'another sound'));
}

async function open(
  { path, survey }: Known,
  choose: (source: Source) => SourceStream,
): Promise<OpenTrack> {
  const source = await openSource(path, { survey });
  const { container } = source;
  const stream = choose(source);
  readOnly(source, [stream.stream.index]);
  return { source, container, stream, [Symbol.asyncDispose]: () => container.closeInput() };
}

/**
 * Makes the demuxer read only these streams. Packets buffered while probing the file are still
 * delivered.
 */
export function readOnly({ container }: Source, indexes: readonly number[]): void {
  for (const stream of container.streams) {
    stream.discard = indexes.includes(stream.index) ? AVDISCARD_DEFAULT : AVDISCARD_ALL;
  }
}
