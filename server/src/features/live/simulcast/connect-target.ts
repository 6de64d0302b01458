import { once } from 'node:events';
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { asEgressError, EgressError } from '../../../platform/egress/egress-errors.ts';
import type { Egress } from '../../../platform/egress/egress.ts';
import { RtmpPublisher } from '../rtmp/rtmp-publisher.ts';

export const targetSchemes = ['rtmp:', 'rtmps:'] as const;
/** Time limit for DNS, TCP, TLS and the start of publishing together. */
const connectWithinMs = 10_000;

type Target = { readonly url: string; readonly streamKey: string };

/**
 * Publishes to a target. Connects to exactly the address that was checked.
 * @throws {EgressError | RtmpError}
 */
export async function connectTarget(
  egress: Egress,
  { url, streamKey }: Target,
  signal: AbortSignal,
): Promise<RtmpPublisher> {
  const late = AbortSignal.timeout(connectWithinMs);
  const either = AbortSignal.any([signal, late]);
  const { host, port, address } = await egress.resolve(url, targetSchemes, either);
  const isTls = url.startsWith('rtmps:');
  const socket: Socket = isTls
    ? connectTls({ host: address, port, servername: isIP(host) === 0 ? host : '' })
    : connect(port, address);
  const stop = (): void => void socket.destroy();
  either.addEventListener('abort', stop, { once: true });
  try {
    await once(socket, isTls ? 'secureConnect' : 'connect', { signal: either });
    socket.setNoDelay(true);
    return await RtmpPublisher.over(socket, url, streamKey);
  } catch (error) {
    socket.destroy();
    if (late.aborted) throw new EgressError('timeout', `timeout: ${host}`, error);
    throw error instanceof Error && 'code' in error ? asEgressError(error, host) : error;
  } finally {
    either.removeEventListener('abort', stop);
  }
}
