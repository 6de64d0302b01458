/** A publisher sends what cannot be broadcast. The message is for the log, and closes the connection. */
export class IngestError extends Error {
  override readonly name = 'IngestError';
}
