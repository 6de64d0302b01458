/** Publishes a moving test picture with a tone to a live stream, as an encoder would. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { ClipLoop, readFlvFile, RtmpPublisher, type FlvTag } from '../features/live/live.ts';
import { generateClip } from '../features/media/media.ts';
import { UsageError } from './command.ts';

const srtCaller = fileURLToPath(new URL('./srt-caller.ts', import.meta.url));

/** Publishes over RTMP until the signal aborts, then ends the stream. */
export async function broadcast(
  url: string,
  streamKey: string,
  signal: AbortSignal,
): Promise<void> {
  const tags = await makeClip(signal);
  const publisher = await RtmpPublisher.open(url, streamKey).catch((error: unknown) => {
    throw new UsageError(`Cannot reach ${url}: ${(error as Error).message}`);
  });
  await new ClipLoop(tags).send(publisher, signal);
  if (!publisher.isOpen) throw new UsageError('The service closed the connection.');
  await publisher.end();
}

/**
 * Publishes over SRT for this many seconds. The clip is generated first, because SRT needs
 * continuous timestamps.
 */
export async function broadcastBySrt(
  url: string,
  streamKey: string,
  seconds: number,
  signal: AbortSignal,
): Promise<void> {
  await withClip('clip.ts', seconds, signal, async (file) => {
    const address = `${url}?streamid=${encodeURIComponent(streamKey)}`;
    const caller = fork(srtCaller, [address, file, String(seconds)], {
      execArgv: ['--disable-warning=ExperimentalWarning'],
    });
    const stop = () => caller.kill('SIGKILL');
    signal.addEventListener('abort', stop, { once: true });
    const [code] = (await once(caller, 'exit')) as [number | null];
    signal.removeEventListener('abort', stop);
    if (code === 2) throw new UsageError(`Cannot reach ${url}, or the stream key is wrong.`);
    if (code !== 0 && !signal.aborted) throw new UsageError('The service closed the connection.');
  });
}

/** A portrait clip of two seconds with a single key frame. */
function makeClip(signal: AbortSignal): Promise<FlvTag[]> {
  return withClip('clip.flv', 2, signal, async (file) => readFlvFile(await readFile(file)));
}

/** Makes a clip with a moving picture and a tone, and removes it after use. */
async function withClip<Result>(
  name: string,
  seconds: number,
  signal: AbortSignal,
  use: (file: string) => Promise<Result>,
): Promise<Result> {
  const folder = await mkdtemp(path.join(tmpdir(), 'reelfeed-live-'));
  try {
    const file = path.join(folder, name);
    const picture = { source: 'testsrc2', width: 720, height: 1280, frameRate: 30 } as const;
    await generateClip({ ...picture, path: file, seconds, tone: 440 }, signal);
    return await use(file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
