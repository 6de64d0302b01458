import { AV_NOPTS_VALUE } from 'node-av/constants';
import type { Packet } from 'node-av/lib';
import type { Rendition } from '../../tasks.ts';
import { AUDIO_RUNG } from '../../ladder.ts';
import { runAudio } from './audio-stage.ts';
import { emptyCoverage, trackPackets } from '../source/decoding.ts';
import { openAudioEncoder } from '../engine/encoders.ts';
import { HlsOutput } from './hls-output.ts';
import { nameOfStream } from '../source/kept-tracks.ts';
import { openOtherSound, type OpenTrack } from '../source/open-track.ts';
import { AudioPace } from './pace.ts';
import type { Source } from '../source/source.ts';
import type { TaskMeter } from '../task-meter.ts';

const MICROSECONDS = 1_000_000;
/** Audio is cut at the end of the video, long before this. */
const MAX_SECONDS = 24 * 3_600;

export type SoundTrackOptions = {
  readonly source: Source;
  readonly outputDir: string;
  readonly segmentSeconds: number;
  /** End of the main audio and the video: longer audio is cut, shorter audio is padded. */
  readonly endSeconds: number;
  readonly meter: TaskMeter;
};

/**
 * Creates a rendition of each additional audio track in turn: `audio2`, `audio3` and so on. Tracks
 * without a decodable frame are skipped.
 */
export async function makeOtherSounds(options: SoundTrackOptions): Promise<Rendition[]> {
  const renditions: Rendition[] = [];
  for (const index of options.source.otherSounds.keys()) {
    const made = await makeSound(index, options);
    if (made !== null) renditions.push(made);
  }
  return renditions;
}

/** Passes on the packets that start before the end and drops the rest. */
async function* untilEnd(
  packets: AsyncIterable<Packet>,
  { source, stream: { stream } }: OpenTrack,
  endSeconds: number,
): AsyncGenerator<Packet> {
  const { timeBase } = stream;
  const start = Number(source.startMicroseconds) / MICROSECONDS;
  for await (const packet of packets) {
    const isPast =
      packet.pts !== AV_NOPTS_VALUE &&
      Number(packet.pts) * timeBase.toDouble() - start >= endSeconds;
    if (isPast) packet.free();
    else yield packet;
  }
}

async function makeSound(
  index: number,
  { endSeconds, meter, outputDir, segmentSeconds, source }: SoundTrackOptions,
): Promise<Rendition | null> {
  await using opened = await openOtherSound(source, index);
  const { container, stream } = opened;
  const name = `${AUDIO_RUNG.name}${index + 2}`;
  const encoder = await openAudioEncoder();
  const encoders = { video: null, audio: encoder };
  const output = await HlsOutput.open(outputDir, { ...AUDIO_RUNG, name }, encoders, {
    segmentSeconds,
    hasShortStart: false,
    grows: false,
    hasDownload: false,
    keepsSoundApart: false,
  });
  const coverage = emptyCoverage();
  const packets = trackPackets(container, stream, { reachedByte: () => meter.addWork() });
  await runAudio({
    source: opened.source,
    stream,
    packets: untilEnd(packets, opened, endSeconds),
    encoder,
    outputs: [output],
    maxSeconds: MAX_SECONDS,
    meter,
    coverage,
    pace: AudioPace.known(endSeconds),
    loudness: null,
  });
  const sound = nameOfStream(stream.stream, `Audio ${index + 2}`);
  const rendition = await output.finish();
  return coverage.frames === 0 ? null : { ...rendition, sound };
}
