/** The embedded database can't run. The message says what is wrong and what a person can do. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';
}
