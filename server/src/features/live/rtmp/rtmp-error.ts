/** A protocol violation or unsupported request by the peer. Closes the connection. */
export class RtmpError extends Error {
  override readonly name = 'RtmpError';
}
