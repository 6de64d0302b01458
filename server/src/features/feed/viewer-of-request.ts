import type { FastifyRequest } from 'fastify';
import { fieldError } from '../../platform/http/errors.ts';
import type { ViewerIds } from '../analytics/analytics.ts';
import { maxViewerId } from './schemas.ts';

type NamedViewer = {
  readonly userId?: string;
  readonly deviceId?: string;
  readonly sessionId?: string;
};

/** The viewer of a request. Query parameters take precedence over the equivalent headers. */
export function viewerOfRequest(request: FastifyRequest, query: NamedViewer): ViewerIds {
  const userId = query.userId ?? readHeader(request, 'x-user-id');
  const deviceId = query.deviceId ?? readHeader(request, 'x-device-id');
  const sessionId = query.sessionId ?? readHeader(request, 'x-session-id');
  return {
    ...(userId !== undefined && { userId }),
    ...(deviceId !== undefined && { deviceId }),
    ...(sessionId !== undefined && { sessionId }),
  };
}

/**
 * A header as text, or undefined if it is absent.
 *
 * @throws ApiError VALIDATION_ERROR if it is too long
 */
export function readHeader(
  request: FastifyRequest,
  name: string,
  most = maxViewerId,
): string | undefined {
  const value = request.headers[name];
  if (typeof value !== 'string' || value === '') return undefined;
  // Node reads headers as Latin-1; clients send UTF-8.
  const text = Buffer.from(value, 'latin1').toString('utf8');
  if (text.length > most)
    throw fieldError(`headers.${name}`, `must have at most ${most} characters`);
  return text;
}
