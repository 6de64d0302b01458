import type { Frame } from 'node-av/lib';
import { MediaError } from '../../media-error.ts';
import type { StillTask, ThumbnailFacts } from '../../tasks.ts';
import { decode, emptyCoverage, readPackets } from '../source/decoding.ts';
import { describeSource, readOrientation } from '../source/describe.ts';
import { required } from '../engine/engine.ts';
import { frameSeconds } from '../engine/frame-graph.ts';
import { openTrack, type OpenTrack } from '../source/open-track.ts';
import { seek } from '../rendition/parts.ts';
import { DAMAGED, openDecoder, openSource } from '../source/source.ts';
import { writeStills } from '../picture/still.ts';
import { TaskMeter } from '../task-meter.ts';
import { makeStill } from '../picture/thumbnail.ts';

const SEEK_LEAD_SECONDS = 1;
/** Upper limit on the requested time, which may be beyond the last picture. */
const MAX_SECONDS = 24 * 3_600;

/**
 * Writes thumbnails of the picture shown at the given time, or of the last picture if the time is
 * beyond the end.
 * @throws {MediaError} like `openSource`, and CORRUPT_MEDIA if no picture can be decoded
 */
export async function makeCoverFiles(
  { outputDir, seconds, sourcePath }: StillTask,
  watch: (meter: TaskMeter) => void,
): Promise<ThumbnailFacts> {
  const meter = new TaskMeter({ seconds: null, bytes: 0 });
  watch(meter);
  const probe = await openSource(sourcePath, { onTurn: () => meter.addWork() });
  const { height, width } = describeSource(probe);
  await probe.container.closeInput();
  await using pictures = await openTrack(probe, 'video');
  const { stream } = pictures;
  // If seeking fails, reading starts at the beginning of the file.
  await seek(pictures, seconds - SEEK_LEAD_SECONDS);
  const frame = await frameAt(pictures, seconds, meter);
  if (frame === null) throw new MediaError('CORRUPT_MEDIA', DAMAGED, { detail: 'no picture' });
  const still = await makeStill(frame, {
    folder: outputDir,
    width: required(width, 'a width'),
    height: required(height, 'a height'),
    timeBase: stream.stream.timeBase,
    orientation: readOrientation(stream),
  });
  frame.free();
  const hash = await writeStills(still, outputDir);
  return { width: still.width, height: still.height, hash };
}

async function frameAt(
  { source, stream }: OpenTrack,
  seconds: number,
  meter: TaskMeter,
): Promise<Frame | null> {
  const decoder = await openDecoder(stream, 1);
  const coverage = emptyCoverage();
  const packets = picturePackets(source.container, stream.stream.index, meter);
  const options = { source, stream, decoder, maxSeconds: MAX_SECONDS, coverage };
  let found: Frame | null = null;
  for await (const frame of decode(packets, options)) {
    const isLate = (frameSeconds(frame, stream.stream.timeBase) ?? 0) > seconds;
    if (isLate && found !== null) {
      frame.free();
      break;
    }
    found?.free();
    found = frame;
    if (isLate) break;
  }
  decoder.freeContext();
  return found;
}

async function* picturePackets(container: OpenTrack['container'], index: number, meter: TaskMeter) {
  for await (const packet of readPackets(container)) {
    meter.addWork();
    if (packet.streamIndex === index) yield packet;
    else packet.free();
  }
}
