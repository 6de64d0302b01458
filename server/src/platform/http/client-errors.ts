import type { Socket } from 'node:net';
import { newTypeId } from '../values/ids.ts';
import { ApiError, type PlatformErrorCode } from './errors.ts';
import { isShakingHands } from './secure-connections.ts';
import { endAfterAnswers, requestUnderWay } from './one-at-a-time.ts';

/**
 * Responds to input that Node's HTTP parser rejects before there is a request: headers that are too
 * large or too slow, or data that is not HTTP. The response closes the connection. If earlier
 * requests on it are complete, they are answered instead.
 */
export function answerClientError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable || isShakingHands(socket)) {
    socket.destroy();
    return;
  }
  const underWay = requestUnderWay(socket);
  if (underWay?.request.complete) {
    endAfterAnswers(socket);
    return;
  }
  if (underWay?.response.headersSent) {
    // The client would take further bytes for part of that response.
    socket.destroy();
    return;
  }
  const answer = new ApiError(codes[error.code ?? ''] ?? 'INVALID_REQUEST');
  const requestId = newTypeId('req');
  const body = JSON.stringify(answer.envelope(requestId));
  socket.end(
    `HTTP/1.1 ${answer.statusCode} ${answer.code}\r\n` +
      'Content-Type: application/json; charset=utf-8\r\n' +
      `Content-Length: ${Buffer.byteLength(body)}\r\n` +
      `X-Request-Id: ${requestId}\r\n` +
      'Connection: close\r\n\r\n' +
      body,
  );
}

const codes: Record<string, PlatformErrorCode> = {
  HPE_HEADER_OVERFLOW: 'HEADERS_TOO_LARGE',
  ERR_HTTP_REQUEST_TIMEOUT: 'REQUEST_TIMEOUT',
};
