/** Publishes a moving test picture with a tone to a live stream, as an encoder would. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ClipLoop, readFlvFile, RtmpPublisher, type FlvTag } from '../features/live/live.ts';
import { generateClip } from '../features/media/media.ts';
import { UsageError } from './command.ts';

/** Publishes until the signal aborts, then ends the stream. */
export async function broadcast(
  url: string,
  streamKey: string,
  signal: AbortSignal,
): Promise<void> {
  const tags = await makeClip(signal);
  const publisher = await RtmpPublisher.open(url, streamKey).catch((error: unknown) => {
    throw new UsageError(`${url} was not reached: ${(error as Error).message}`);
  });
  await new ClipLoop(tags).send(publisher, signal);
  if (!publisher.isOpen) throw new UsageError('The service has closed the connection.');
  await publisher.end();
}

/** A portrait clip of two seconds with a single key frame. */
async function makeClip(signal: AbortSignal): Promise<FlvTag[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'reelfeed-live-'));
  try {
    const file = path.join(folder, 'clip.flv');
    const picture = { source: 'testsrc2', width: 720, height: 1280, frameRate: 30 } as const;
    await generateClip({ ...picture, path: file, seconds: 2, tone: 440 }, signal);
    return readFlvFile(await readFile(file));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
