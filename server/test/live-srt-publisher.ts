/** SRT publishers for tests. */
import { fork, type ChildProcess } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { generateClip } from '../src/features/media/media.ts';
import { atEnd } from './database.ts';

type Codec = 'h264' | 'hevc';
type Clip = { codec?: Codec; seconds?: number };

const program = fileURLToPath(new URL('../src/cli/srt-caller.ts', import.meta.url));
const clips = new Map<string, Promise<string>>();

/** An MPEG-TS file with a key frame every second and a tone. */
function transportClip({ codec = 'h264', seconds = 10 }: Clip): Promise<string> {
  const name = `${codec} ${seconds}`;
  const clip = clips.get(name) ?? makeClip(codec, seconds);
  clips.set(name, clip);
  return clip;
}

async function makeClip(codec: Codec, seconds: number): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'reelfeed-srt-'));
  atEnd(() => rm(folder, { recursive: true, force: true }));
  const file = path.join(folder, 'clip.ts');
  const picture = { source: 'testsrc2', width: 180, height: 320, frameRate: 15 } as const;
  const clip = { ...picture, path: file, seconds, tone: 440 };
  const whole = codec === 'h264' ? clip : { ...clip, codec };
  await generateClip(whole, AbortSignal.timeout(120_000));
  return file;
}

export type SrtEncoder = {
  /** Resolves when the service accepts the caller, and rejects if the service does. */
  readonly connected: Promise<void>;
  /** 0 if everything was sent, 2 if rejected, 3 if the connection was lost, null if killed. */
  readonly exit: Promise<number | null>;
  readonly process: ChildProcess;
};

/** Starts an encoder that publishes its clip once under this stream ID, then exits. */
export async function publishBySrt(
  port: number,
  streamId: string,
  clip: Clip = {},
): Promise<SrtEncoder> {
  const file = await transportClip(clip);
  // A busy machine may take longer than the default of three seconds.
  const query = `connect_timeout=20000&streamid=${encodeURIComponent(streamId)}`;
  const url = `srt://127.0.0.1:${port}?${query}`;
  const child = fork(program, [url, file, String(clip.seconds ?? 10)], {
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  atEnd(async () => void child.kill('SIGKILL'));
  const exit = once(child, 'exit').then(([code]) => code as number | null);
  const connected = Promise.race([
    once(child, 'message').then(() => undefined),
    exit.then((code) => Promise.reject(new Error(`The encoder has ended with ${code}.`))),
  ]);
  connected.catch(() => undefined);
  return { connected, exit, process: child };
}

export type Line = AsyncDisposable & {
  readonly port: number;
  /** Decides by its number whether a datagram is lost, in either direction. */
  isLost: (count: number) => boolean;
};

/** A relay to a local port that drops datagrams. */
export async function lossyLine(port: number): Promise<Line> {
  const outer = createSocket('udp4').bind(0, '127.0.0.1');
  const inner = createSocket('udp4').bind(0, '127.0.0.1');
  await Promise.all([once(outer, 'listening'), once(inner, 'listening')]);
  let caller: number | null = null;
  let count = 0;
  const line = {
    port: outer.address().port,
    isLost: (_count: number) => false,
    [Symbol.asyncDispose]: async () => {
      outer.close();
      inner.close();
    },
  };
  outer.on('message', (bytes, from) => {
    caller = from.port;
    if (!line.isLost((count += 1))) inner.send(bytes, port, '127.0.0.1');
  });
  inner.on('message', (bytes) => {
    if (caller !== null && !line.isLost((count += 1))) outer.send(bytes, caller, '127.0.0.1');
  });
  atEnd(() => line[Symbol.asyncDispose]().catch(() => undefined));
  return line;
}
