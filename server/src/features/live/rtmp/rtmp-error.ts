/** The other side broke the protocol, or sent what is not taken. The connection is closed. */
export class RtmpError extends Error {
  override readonly name = 'RtmpError';
}
