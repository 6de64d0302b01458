/**
 * `reelfeed live test`: publishes a moving test picture with a tone to a live stream, as an encoder
 * would, so that ingest, feed and player can be tried without one.
 */
import { duration } from '../platform/settings/config-values.ts';
import { broadcast, broadcastBySrt } from './broadcast.ts';
import { print, UsageError, type Command, type CommandInput } from './command.ts';
import { explainRequest, openAdmin, serviceUrl, trustOwnCertificate } from './open-admin.ts';

const usage = `Usage: reelfeed live test [stream key] [--for 30s] [--srt]
Without a stream key, creates a stream and ends it afterwards. Without --for, runs until Ctrl+C.
The service is REELFEED_PUBLIC_URL or http://localhost:$PORT; the key is REELFEED_SECRET_KEY.
With a stream key, the port is REELFEED_RTMP_PORT or 1935; if that is 0, REELFEED_RTMPS_PORT with TLS.
--srt publishes over SRT to REELFEED_SRT_PORT, for 30 seconds unless --for says otherwise (at most 10m).`;

/** Default and maximum duration of a test over SRT. */
const srtSeconds = { usual: 30, max: 600 };

export const liveCommand: Command = async (input) => {
  const [action, streamKey, ...more] = input.positionals;
  if (action !== 'test' || more.length > 0) throw new UsageError(usage);
  const publish = publisherOf(input);
  if (streamKey === undefined) return testNewStream(input, publish);
  const url = ingestUrl(input);
  trustOwnCertificate(input);
  print(input.json, { url }, [`Publishing a test picture to ${url}. Press Ctrl+C to stop.`]);
  await publish(url, streamKey);
};

type Publish = (url: string, streamKey: string) => Promise<void>;

/** Publishes by the chosen protocol, for the given time or until the command is told to stop. */
function publisherOf(input: CommandInput): Publish {
  const milliseconds = lengthOf(input);
  if (input.srt !== true) {
    const signal = stopSignal(milliseconds);
    return (url, streamKey) => broadcast(url, streamKey, signal);
  }
  const seconds = milliseconds === null ? srtSeconds.usual : milliseconds / 1_000;
  if (seconds > srtSeconds.max) throw new UsageError(`--for must be at most 10m.\n\n${usage}`);
  const signal = stopSignal(null);
  return (url, streamKey) => broadcastBySrt(url, streamKey, seconds, signal);
}

/** Uses TLS if the service accepts no plain RTMP. */
function ingestUrl(input: CommandInput): string {
  const { env, srt } = input;
  const { hostname } = new URL(serviceUrl(input));
  if (srt === true) {
    const { REELFEED_SRT_PORT: srtPort = '0' } = env;
    if (srtPort === '0') throw new UsageError(`REELFEED_SRT_PORT is not set.\n\n${usage}`);
    return `srt://${hostname}:${srtPort}`;
  }
  const { REELFEED_RTMP_PORT: port = '1935', REELFEED_RTMPS_PORT: securePort = '0' } = env;
  const isSecure = port === '0' && securePort !== '0';
  return isSecure ? `rtmps://${hostname}:${securePort}/live` : `rtmp://${hostname}:${port}/live`;
}

/** The value of `--for` in milliseconds, or null without one. */
function lengthOf({ for: length }: CommandInput): number | null {
  if (length === undefined) return null;
  const read = duration({ min: '1s', max: '24h' })(length);
  if (!('value' in read)) throw new UsageError(`--for must be ${read.problem}.\n\n${usage}`);
  return read.value;
}

/** Aborts after the given time, or when the command is told to stop. */
function stopSignal(milliseconds: number | null): AbortSignal {
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => stopping.abort());
  }
  if (milliseconds === null) return stopping.signal;
  return AbortSignal.any([stopping.signal, AbortSignal.timeout(milliseconds)]);
}

async function testNewStream(input: CommandInput, publish: Publish): Promise<void> {
  const admin = openAdmin(input, usage);
  const body = {
    title: `Test broadcast of ${new Date().toISOString().slice(0, 16).replace('T', ' ')} UTC`,
    reconnectWindow: 0,
  };
  const made = await admin.post('/v1/live-streams', { body }).catch((error: unknown) => {
    throw explainRequest(input, error);
  });
  const { id, contentId, rtmpUrl, srtUrl, streamKey } = made.data;
  const url = input.srt === true ? srtUrl : rtmpUrl;
  if (url === null) {
    const protocol = input.srt === true ? 'SRT' : 'RTMP';
    throw new UsageError(
      `The service does not accept live streams over ${protocol}: its port is 0.`,
    );
  }
  print(input.json, { id, contentId, [input.srt === true ? 'srtUrl' : 'rtmpUrl']: url }, [
    `Created the stream ${id}; publishing a test picture to ${url}.`,
    `It appears in the feed at ${serviceUrl(input)}/feed as item ${contentId}. Press Ctrl+C to end it.`,
  ]);
  try {
    await publish(url, streamKey);
  } finally {
    await admin.post('/v1/live-streams/{id}/end', { path: { id } });
  }
  print(input.json, { id, ended: true }, [
    'The stream has ended. Its recording is being processed.',
  ]);
}
