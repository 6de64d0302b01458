/** The hls.js configuration: buffer length, retries and start position. */
import type { HlsConfig, LoadPolicy } from 'hls.js';
import { type Conditions } from './conditions.ts';
import { broadcastConfig } from './live-edge.ts';

/** Buffer lengths in seconds of the playing clip and of a waiting one. */
export const playingBufferSeconds = 12;
export const waitingBufferSeconds = 4;

/**
 * By default, hls.js would silently repeat a failed request six times over half a minute. The
 * viewer has swiped on by then, so it retries only twice.
 */
const loadPolicy: LoadPolicy = {
  default: {
    maxTimeToFirstByteMs: 8_000,
    maxLoadTimeMs: 20_000,
    timeoutRetry: { maxNumRetry: 1, retryDelayMs: 0, maxRetryDelayMs: 0 },
    errorRetry: { maxNumRetry: 2, retryDelayMs: 500, maxRetryDelayMs: 1_500 },
  },
};

/**
 * Without a measured connection speed, the start variant is chosen once the playlist is known: the
 * first variant, in the service's order, or a smaller one if the connection seems slow.
 */
export function hlsConfig(conditions: Conditions, isBroadcast: boolean): Partial<HlsConfig> {
  const { measuredBps } = conditions;
  const bps = measuredBps ?? conditions.guessLine();
  return {
    ...(measuredBps !== null && { startLevel: -1 }),
    ...(bps !== null && { abrEwmaDefaultEstimate: bps }),
    autoStartLoad: false,
    startFragPrefetch: true,
    testBandwidth: false,
    capLevelToPlayerSize: true,
    maxBufferLength: waitingBufferSeconds,
    maxMaxBufferLength: 30,
    maxBufferSize: 20_000_000,
    // Short clips loop, so what has been played is kept in order to loop without the network.
    backBufferLength: 20,
    manifestLoadPolicy: loadPolicy,
    playlistLoadPolicy: loadPolicy,
    fragLoadPolicy: loadPolicy,
    ...(isBroadcast && broadcastConfig),
  };
}
