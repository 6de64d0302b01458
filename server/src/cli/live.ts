/**
 * `reelfeed live test`: publishes a moving test picture with a tone to a live stream, as an encoder
 * would, so that ingest, feed and player can be tried without one.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ClipLoop, readFlvFile, RtmpPublisher, type FlvTag } from '../features/live/live.ts';
import { generateClip } from '../features/media/media.ts';
import { duration } from '../platform/config-values.ts';
import { print, UsageError, type Command, type CommandInput } from './command.ts';
import { explainRequest, openAdmin, serviceUrl } from './open-admin.ts';

const usage = `Usage: reelfeed live test [stream key] [--for 30s]
Without a stream key it makes a stream, and ends it afterwards. Without --for it goes on until Ctrl+C.
The service is REELFEED_PUBLIC_URL, or http://localhost:$PORT; the key is REELFEED_SECRET_KEY.
With a stream key the port is REELFEED_RTMP_PORT, or 1935.`;

export const liveCommand: Command = async (input) => {
  const [action, streamKey, ...more] = input.positionals;
  if (action !== 'test' || more.length > 0) throw new UsageError(usage);
  const signal = stopSignal(input);
  if (streamKey === undefined) return testNewStream(input, signal);
  const url = `rtmp://${new URL(serviceUrl(input)).hostname}:${input.env['REELFEED_RTMP_PORT'] ?? 1935}/live`;
  print(input.json, { url }, [`Publishing a test picture to ${url}. Ctrl+C stops it.`]);
  await publish(url, streamKey, signal);
};

/** Aborts after the given time, and when the command is told to stop. */
function stopSignal({ for: length }: CommandInput): AbortSignal {
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => stopping.abort());
  }
  if (length === undefined) return stopping.signal;
  const read = duration({ min: '1s', max: '24h' })(length);
  if (!('value' in read)) throw new UsageError(`--for must be ${read.problem}.\n\n${usage}`);
  return AbortSignal.any([stopping.signal, AbortSignal.timeout(read.value)]);
}

async function testNewStream(input: CommandInput, signal: AbortSignal): Promise<void> {
  const admin = openAdmin(input, usage);
  const body = {
    title: `Test broadcast of ${new Date().toISOString().slice(0, 16).replace('T', ' ')} UTC`,
    reconnectWindow: 0,
  };
  const made = await admin.post('/v1/live-streams', { body }).catch((error: unknown) => {
    throw explainRequest(input, error);
  });
  const { id, contentId, rtmpUrl, streamKey } = made.data;
  if (rtmpUrl === null) throw new UsageError('The service takes no live streams: its port is 0.');
  print(input.json, { id, contentId, rtmpUrl }, [
    `Made the stream ${id}, publishing a test picture to ${rtmpUrl}.`,
    `It is in the feed at ${serviceUrl(input)}/feed, as item ${contentId}. Ctrl+C ends it.`,
  ]);
  try {
    await publish(rtmpUrl, streamKey, signal);
  } finally {
    await admin.post('/v1/live-streams/{id}/end', { path: { id } });
  }
  print(input.json, { id, ended: true }, ['The stream has ended; its recording is processed now.']);
}

async function publish(url: string, streamKey: string, signal: AbortSignal): Promise<void> {
  const tags = await makeClip(signal);
  const publisher = await RtmpPublisher.open(url, streamKey).catch((error: unknown) => {
    throw new UsageError(`${url} was not reached: ${(error as Error).message}`);
  });
  await new ClipLoop(tags).send(publisher, signal);
  if (!publisher.isOpen) throw new UsageError('The service has closed the connection.');
  await publisher.end();
}

/** Two seconds with one key frame, upright, as phones show it. */
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
