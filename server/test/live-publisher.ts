/** A test publisher that sends a clip in a loop, like an encoder. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { generateClip } from '../src/features/media/media.ts';
import {
  ClipLoop,
  readFlvFile,
  RtmpPublisher,
  splitClip,
  type FlvTag,
} from '../src/features/live/live.ts';
import { atEnd } from './database.ts';
import type { TestService } from './service.ts';

/** A currently unused port. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

type Size = { width: number; height: number };
type Codec = 'h264' | 'hevc' | 'av1';

const portrait = { width: 180, height: 320 };
const clips = new Map<string, Promise<FlvTag[]>>();

/** Encoding of a clip's pictures. Default: 15 fps without B-frames. */
export type Encoding = { frameRate?: number; bFrames?: number };

/** One second with one key frame, and a tone. */
export function liveClip(
  size: Size = portrait,
  codec: Codec = 'h264',
  encoding: Encoding = {},
): Promise<FlvTag[]> {
  const name = `${size.width}x${size.height} ${codec} ${JSON.stringify(encoding)}`;
  const clip = clips.get(name) ?? makeClip(size, codec, encoding);
  clips.set(name, clip);
  return clip;
}

async function makeClip(
  { width, height }: Size,
  codec: Codec,
  { frameRate = 15, bFrames }: Encoding,
): Promise<FlvTag[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'reelfeed-live-'));
  atEnd(() => rm(folder, { recursive: true, force: true }));
  const file = path.join(folder, 'clip.flv');
  const picture = { source: 'testsrc2', width, height, frameRate } as const;
  const clip = {
    ...picture,
    path: file,
    seconds: 1,
    tone: 440,
    ...(codec !== 'h264' && { codec }),
    ...(bFrames !== undefined && { bFrames }),
  };
  await generateClip(clip, AbortSignal.timeout(60_000));
  return readFlvFile(await readFile(file));
}

export type Stream = { id: string; contentId: string; streamKey: string };

export async function createStream(
  service: Pick<TestService, 'call'>,
  fields: object = {},
): Promise<Stream> {
  const body = { title: 'A broadcast', reconnectWindow: 0, ...fields };
  const made = await service.call('POST', '/v1/live-streams', { body });
  if (made.status !== 201) throw new Error(made.text);
  return made.body.data;
}

export type Publishing = AsyncDisposable & {
  publisher: RtmpPublisher;
  /** Drops the connection. */
  cut(): void;
  /** Ends the stream cleanly. */
  end(): Promise<void>;
};

/** Publishes at a pace until stopped: 4 is four times real time. */
export async function publish(
  port: number,
  key: string,
  pace = 4,
  codec: Codec = 'h264',
  size = portrait,
): Promise<Publishing> {
  const publisher = await RtmpPublisher.open(`rtmp://127.0.0.1:${port}/live`, key);
  const stopping = new AbortController();
  const sending = new ClipLoop(await liveClip(size, codec), pace).send(publisher, stopping.signal);
  const publishing = {
    publisher,
    cut: () => {
      stopping.abort();
      publisher[Symbol.dispose]();
    },
    end: async () => {
      stopping.abort();
      await sending;
      await publisher.end();
    },
    [Symbol.asyncDispose]: async () => {
      publishing.cut();
      await sending;
    },
  };
  atEnd(() => publishing[Symbol.asyncDispose]());
  return publishing;
}

/** Sends seconds of a clip as fast as they are accepted, starting at this encoder time. */
export async function sendSeconds(
  publisher: RtmpPublisher,
  clip: readonly FlvTag[],
  { fromMs, seconds }: { fromMs: number; seconds: number },
): Promise<void> {
  const { headers, media } = splitClip(clip);
  for (const { type, payload } of headers) await publisher.send(type, fromMs >>> 0, payload);
  for (let second = 0; second < seconds; second += 1) {
    for (const { type, payload, timestampMs } of media) {
      await publisher.send(type, (fromMs + second * 1_000 + timestampMs) >>> 0, payload);
    }
  }
}
