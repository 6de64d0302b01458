/**
 * A publisher sent media that cannot be broadcast. The connection is closed and the message is
 * logged.
 */
export class IngestError extends Error {
  override readonly name = 'IngestError';
}
