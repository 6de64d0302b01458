/** The embedded database cannot run. The message says what is wrong and what a person can do. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';
}
