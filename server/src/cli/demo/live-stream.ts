/**
 * Broadcasts for a minute, which leaves a recording, and creates a stream that waits for an
 * encoder.
 */
import { createAdmin } from '@reelfeed/client/server';
import { broadcast } from '../broadcast.ts';

const lengthMs = 60_000;

/** Runs to completion on the first start; ends early, and cleanly, with the demo. */
export async function broadcastOnce(
  { url, secretKey }: { url: string; secretKey: string },
  signal: AbortSignal,
): Promise<void> {
  const admin = createAdmin({ baseUrl: url, secretKey });
  const { data: streams } = await admin.get('/v1/live-streams', { query: { limit: 1 }, signal });
  if (streams.length > 0) return;
  const make = (title: string, description: string) =>
    admin.post('/v1/live-streams', {
      body: { title, description, section: 'Demo', author: 'Studio', reconnectWindow: 0 },
      signal,
    });
  await make('Evening show', 'Waits for an encoder: see docs/live.md.');
  const { data: stream } = await make('Test broadcast', 'A minute of a test picture.');
  const { id, rtmpUrl, streamKey } = stream;
  if (rtmpUrl === null) return;
  try {
    const ending = AbortSignal.any([AbortSignal.timeout(lengthMs), signal]);
    await broadcast(rtmpUrl, streamKey, ending);
  } finally {
    if (!signal.aborted) await admin.post('/v1/live-streams/{id}/end', { path: { id }, signal });
  }
}
