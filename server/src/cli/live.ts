/**
 * `reelfeed live test`: publishes a moving test picture with a tone to a live stream, as an encoder
 * would, so that ingest, feed and player can be tried without one.
 */
import { duration } from '../platform/config-values.ts';
import { broadcast } from './broadcast.ts';
import { print, UsageError, type Command, type CommandInput } from './command.ts';
import { explainRequest, openAdmin, serviceUrl, trustOwnCertificate } from './open-admin.ts';

const usage = `Usage: reelfeed live test [stream key] [--for 30s]
Without a stream key it makes a stream, and ends it afterwards. Without --for it goes on until Ctrl+C.
The service is REELFEED_PUBLIC_URL, or http://localhost:$PORT; the key is REELFEED_SECRET_KEY.
With a stream key the port is REELFEED_RTMP_PORT, or 1935; if it is 0, REELFEED_RTMPS_PORT by TLS.`;

export const liveCommand: Command = async (input) => {
  const [action, streamKey, ...more] = input.positionals;
  if (action !== 'test' || more.length > 0) throw new UsageError(usage);
  const signal = stopSignal(input);
  if (streamKey === undefined) return testNewStream(input, signal);
  const url = ingestUrl(input);
  trustOwnCertificate(input);
  print(input.json, { url }, [`Publishing a test picture to ${url}. Ctrl+C stops it.`]);
  await broadcast(url, streamKey, signal);
};

/** Uses TLS if the service accepts nothing else. */
function ingestUrl(input: CommandInput): string {
  const { hostname } = new URL(serviceUrl(input));
  const { REELFEED_RTMP_PORT: port = '1935', REELFEED_RTMPS_PORT: securePort = '0' } = input.env;
  const isSecure = port === '0' && securePort !== '0';
  return isSecure ? `rtmps://${hostname}:${securePort}/live` : `rtmp://${hostname}:${port}/live`;
}

/** Aborts after the given time, or when the command is told to stop. */
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
  if (rtmpUrl === null)
    throw new UsageError('The service takes no live streams by RTMP: its port is 0.');
  print(input.json, { id, contentId, rtmpUrl }, [
    `Made the stream ${id}, publishing a test picture to ${rtmpUrl}.`,
    `It is in the feed at ${serviceUrl(input)}/feed, as item ${contentId}. Ctrl+C ends it.`,
  ]);
  try {
    await broadcast(rtmpUrl, streamKey, signal);
  } finally {
    await admin.post('/v1/live-streams/{id}/end', { path: { id } });
  }
  print(input.json, { id, ended: true }, ['The stream has ended; its recording is processed now.']);
}
